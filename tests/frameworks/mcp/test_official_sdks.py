"""The official SDKs of MCP as referees: their servers answer our client, and their clients use our gateway."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.project import UserProject

pytestmark = pytest.mark.frameworks

HERE = Path(__file__).parent
PYTHON = str(HERE.parents[2] / ".venv-mcp" / "bin" / "python")
SERVERS = {"python": [PYTHON, str(HERE / "sdk_server.py")], "node": ["node", str(HERE / "node_server.mjs")]}
MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"


@contextmanager
def listening(command: list[str]) -> Iterator[str]:
    """Start a server on a free port of loopback, and wait until it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                with socket.socket() as attempt:
                    if attempt.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def write(project: UserProject, server: dict[str, Any], **fields: Any) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    scenario = {
        "scenario": "referee",
        "adapter": "mcp",
        "mcp_servers": {"referee": {**server, "timeout": 60}},
        "adapter_options": {
            "calls": [
                {"tool": "find_order", "arguments": {"order_id": "A-1001"}},
                {"tool": "add", "arguments": {"a": 2, "b": 3}},
            ],
            "bad_arguments": ["find_order"],
        },
        "assertions": [
            {"type": "mcp_server", "lists": ["find_order", "add"], "only": True, "valid_schemas": True, "no_errors": True},
            {"type": "jmespath", "name": "find_order", "path": "final_output.calls[0].result.status", "operator": "eq", "value": "paid"},
        ],
        **fields,
    }  # fmt: skip
    project.write("scenarios/referee.yaml", yaml.safe_dump(scenario, sort_keys=False))


def run(project: UserProject) -> dict[str, Any]:
    result = project.salvo("run", "--record")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    replayed = project.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output
    return document


@pytest.mark.parametrize(
    "kind, protocol, spoken",
    [
        ("python", "auto", MODERN),
        ("python", MODERN, MODERN),
        ("python", HANDSHAKE, HANDSHAKE),
        ("node", "auto", HANDSHAKE),
        ("node", HANDSHAKE, HANDSHAKE),
    ],
)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_our_client_uses_the_servers_of_the_official_sdks(
    project: UserProject, kind: str, protocol: str, spoken: str, transport: str
) -> None:
    if transport == "stdio":
        write(project, {"command": SERVERS[kind], "protocol": protocol})
        stored = run(project)
    else:
        with listening(SERVERS[kind]) as url:
            write(project, {"url": url, "protocol": protocol})
            stored = run(project)
    output = stored["final_output"]
    assert output["servers"]["referee"] == {"name": "referee", "version": "1.0", "protocol": spoken}
    assert all(call["rejected"] for call in output["bad_arguments"])


@pytest.mark.parametrize(
    "command, spoken",
    [
        ([PYTHON, str(HERE / "sdk_client.py"), "auto"], MODERN),
        ([PYTHON, str(HERE / "sdk_client.py"), "legacy"], HANDSHAKE),
        (["node", str(HERE / "node_client.mjs")], None),
    ],
)
def test_clients_of_the_official_sdks_use_the_tools_at_our_gateway(
    project: UserProject, command: list[str], spoken: str | None
) -> None:
    parameters = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    write(
        project,
        {"command": SERVERS["python"], "tools": ["add"]},
        adapter="command",
        user_message="Find it.",
        tools=[{"name": "find_order", "parameters": parameters, "response": {"status": "shipped"}}],
        adapter_options={"command": command},
        assertions=[
            {"type": "tool_sequence", "mode": "any_order", "expected": ["add", "add", "find_order", "find_order"]}
        ],
    )
    output = run(project)["final_output"]
    protocol = {} if spoken is None else {"protocol": spoken}
    assert output == {
        "salvo": {"tools": ["find_order"], "structured": {"status": "shipped"}, "wrong": True, **protocol},
        "referee": {"tools": ["add"], "structured": {"result": 5}, "wrong": True, **protocol},
    }
