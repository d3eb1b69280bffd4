"""pydantic-ai with the model that is its argument, in two conversations at once."""

import asyncio
import sys

from pydantic_ai import Agent

agent = Agent(sys.argv[1], instructions="Be brief.")


@agent.tool_plain
def find(name: str) -> str:
    """Find a person's seat."""
    return f"{name} sits in 2A"


async def main(prompt: str) -> list[str]:
    runs = await asyncio.gather(*(agent.run(f"{prompt} (question {number})") for number in range(3)))
    return [run.output for run in runs]


print(asyncio.run(main(sys.stdin.read())))
