"""The client beside servers that ask questions, list in pages, or never stop listing."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from salvo.engine.mcp import client as client_module
from salvo.engine.mcp.client import McpClient, ServerSettings
from salvo.engine.mcp.stdio import StdioTarget
from salvo.errors import McpError
from tests.support.wires import answering

SERVER = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

pages = %s
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "server/discover":
        send(id=number, result={"supportedVersions": ["2026-07-28"], "resultType": "complete"})
    elif method == "tools/list":
        cursor = int(message["params"].get("cursor", 0))
        send(id="from-server", method="ping")
        assert json.loads(sys.stdin.readline())["result"] == {}
        send(id="from-server", method="sampling/createMessage", params={})
        assert json.loads(sys.stdin.readline())["error"]["code"] == -32601
        send(method="notifications/message", params={"level": "info", "data": "listing"})
        tool = {"name": f"tool{cursor}", "inputSchema": {"type": "object"}}
        more = {"nextCursor": str(cursor + 1)} if cursor + 1 < pages else {}
        send(id=number, result={"tools": [tool], **more})
    elif method == "tools/call":
        print(flush=True)
        send(id=number, error={"code": -32602, "message": "not today"})
"""


@asynccontextmanager
async def connected(folder: Path, pages: int) -> AsyncIterator[McpClient]:
    (folder / "server.py").write_text(dedent(SERVER % pages))
    target = StdioTarget([sys.executable, "server.py"], folder, os.environ)
    client = await McpClient.connect(ServerSettings("shop", target), answering({}))
    try:
        yield client
    finally:
        await client.close()


async def test_all_pages_are_listed_and_questions_of_the_server_are_answered(tmp_path: Path) -> None:
    async with connected(tmp_path, 3) as client:
        listing = await client.list_tools()
    assert [tool["name"] for tool in listing.tools] == ["tool0", "tool1", "tool2"]


async def test_a_list_without_an_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MAX_PAGES", 5)
    async with connected(tmp_path, 10**9) as client:
        with pytest.raises(McpError, match="does not end"):
            await client.list_tools()


async def test_an_error_of_a_call_has_the_servers_words(tmp_path: Path) -> None:
    async with connected(tmp_path, 1) as client:
        with pytest.raises(McpError, match="answered tools/call with the error -32602: not today"):
            await client.call("tool0", {})


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    settings = ServerSettings("shop", StdioTarget(["./nowhere"], tmp_path, {}))
    with pytest.raises(McpError, match=r"could not be started: \./nowhere: No such file"):
        await McpClient.connect(settings, answering({}))
