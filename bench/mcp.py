"""What a call of an MCP server over standard input and output costs this process, beside a call of a YAML tool."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from pathlib import Path

from bench import table
from salvo.engine.chat.base import ToolDefinition
from salvo.engine.mcp.client import McpClient, ServerSettings
from salvo.engine.mcp.stdio import StdioTarget
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.http import HttpWire
from salvo.scenarios.run.tools.mcp_tools import McpTool
from salvo.scenarios.run.tools.toolbox import Tool, ToolBox
from salvo.scenarios.run.tools.yaml_tool import ScriptedTool
from salvo.scenarios.spec.tool_schema import YamlTool
from tests.support.mcp import STDIO_SERVER
from tests.support.mcp.shop import ORDER

CALLS, ROUNDS = 500, 5


def report() -> None:
    table.heading(f"A tool call through the ToolBox, {CALLS} in sequence, median of {ROUNDS}")
    ours, yaml = asyncio.run(_measure())
    table.line("MCP, stdio", {"cpu": ours}, "ms")
    table.line("YAML", {"cpu": yaml}, "ms")
    table.promise("CPU that MCP adds to a call", ours - yaml, 2, "ms")


async def _measure() -> tuple[float, float]:
    """Return the milliseconds of CPU for a call of each kind."""
    settings = ServerSettings("shop", StdioTarget(STDIO_SERVER, Path.cwd(), os.environ))
    definition = ToolDefinition("find_order", "Finds an order.", ORDER)
    async with HttpWire({}, Redactor()) as wire:
        client = await McpClient.connect(settings, wire)
        try:
            await client.list_tools()
            ours, yaml = [], []
            for _ in range(ROUNDS):  # by turns: a machine that slows down must slow both down
                ours.append(await _cpu(McpTool(definition, client)))
                yaml.append(await _cpu(ScriptedTool(YamlTool(name="find_order", parameters=ORDER), SystemClock())))
        finally:
            await client.close()
    return statistics.median(ours), statistics.median(yaml)


async def _cpu(tool: Tool) -> float:
    toolbox = ToolBox([tool], SystemClock(), Redactor())
    started = time.process_time()
    for _ in range(CALLS):
        call = await toolbox.call("find_order", {"order_id": "A-1001"})
        assert call.error is None, call.error
    return (time.process_time() - started) / CALLS * 1000
