"""The Claude Agent SDK, which sends a new user id with every request."""

import asyncio
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool


@tool("find", "Find a person's seat.", {"name": str})
async def find(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"{arguments['name']} sits in 2A"}]}


async def main() -> None:
    options = ClaudeAgentOptions(
        model="claude-opus-4-8",
        system_prompt="Be brief.",
        max_turns=4,
        mcp_servers={"people": create_sdk_mcp_server("people", tools=[find])},
        allowed_tools=["mcp__people__find"],
    )
    async for message in query(prompt=sys.stdin.read(), options=options):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
