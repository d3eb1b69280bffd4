"""The OpenAI Agents SDK, which uses the Responses API."""

import asyncio
import sys

from agents import Agent, Runner, function_tool, set_tracing_disabled

set_tracing_disabled(True)


@function_tool
def find(name: str) -> str:
    """Find a person's seat."""
    return f"{name} sits in 2A"


async def main() -> str:
    agent = Agent(name="Steward", instructions="Be brief.", model="gpt-5.4-mini", tools=[find])
    prompt = sys.stdin.read()
    if "streamed" not in sys.argv:
        return (await Runner.run(agent, prompt)).final_output
    run = Runner.run_streamed(agent, prompt)
    async for _event in run.stream_events():
        pass
    return run.final_output


print(asyncio.run(main()))
