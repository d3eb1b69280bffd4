"""A program with the official SDK as its client: it calls a tool of every server in its configuration."""

import asyncio
import json
import os
import sys
from pathlib import Path

import httpx2
from mcp.client.client import Client  # type: ignore[import-not-found]  # in an environment of its own
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]  # as above

SERVERS = json.loads(Path(os.environ["SALVO_MCP_CONFIG"]).read_text())["mcpServers"]
ARGUMENTS = {"find_order": {"order_id": "A-1001"}, "add": {"a": 2, "b": 3}}


async def main() -> None:
    results = {}
    for name, server in SERVERS.items():
        async with httpx2.AsyncClient(headers=server["headers"]) as http:
            transport = streamable_http_client(server["url"], http_client=http)
            async with Client(transport, mode=sys.argv[1]) as client:
                tools = (await client.list_tools()).tools
                result = await client.call_tool(tools[0].name, ARGUMENTS[tools[0].name])
                wrong = await client.call_tool(tools[0].name, {})
                results[name] = {
                    "tools": [tool.name for tool in tools],
                    "structured": result.structured_content,
                    "wrong": wrong.is_error,
                    "protocol": client.protocol_version,
                }
    print(json.dumps(results))


asyncio.run(main())
