"""The tools of a scenario and its MCP servers, served to a program at the gateway: on the tape, and replayed in full."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from inline_snapshot import snapshot

from tests.support.mcp import STDIO_SERVER
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say, Use, UseTools, by_turn

AGENT = """
import json, os, sys, urllib.request

def post(url, body, token):
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.loads(reply.read())

def mcp(url, method, **params):
    answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, os.environ["SALVO_MCP_TOKEN"])
    return answer["result"]

servers = json.load(open(sys.argv[1]))["mcpServers"]
assert all(server["headers"]["Authorization"] == "Bearer " + os.environ["SALVO_MCP_TOKEN"] for server in servers.values())
places = {}
for name, server in sorted(servers.items()):
    mcp(server["url"], "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "a", "version": "1"})
    for tool in mcp(server["url"], "tools/list")["tools"]:
        places[f"mcp__{name}__{tool['name']}"] = server["url"], tool["name"]
assert len(mcp(os.environ["SALVO_MCP_URL"], "tools/list")["tools"]) == len(places)
for name in os.environ.get("DIRECT", "").split():
    mcp(os.environ["SALVO_MCP_URL"], "tools/call", name=name, arguments={})
tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in places]
messages = [{"role": "user", "content": sys.stdin.read()}]
while True:
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = {"model": "gpt-5.4-mini", "messages": messages, "tools": tools}
    message = post(url, body, os.environ["OPENAI_API_KEY"])["choices"][0]["message"]
    if not message.get("tool_calls"):
        break
    messages.append(message)
    for call in message["tool_calls"]:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        if name in places:
            url, name = places[name]
            result = mcp(url, "tools/call", name=name, arguments=arguments)["content"][0]["text"]
        else:
            result = "done without Salvo"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
print(message["content"])
"""

TOOLS = '''
def add(a: int = 1, b: int = 2) -> int:
    """Adds."""
    with open("added", "a") as file:
        file.write("x")
    return a + b
'''
WEATHER = {
    "name": "weather",
    "response": {"sky": "clear"},
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
FIND = UseTools(Use("mcp__shop__find_order", {"order_id": "A-1001"}))
SKY = UseTools(Use("mcp__salvo__weather", {"city": "Bern"}))
GOOD = by_turn(FIND, SKY, Say("All is well."))


@pytest.fixture
def agent(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("agent.py", AGENT)
    return project


def write(project: UserProject, *server_options: str, **options: Any) -> None:
    scenario = {
        "scenario": "served",
        "adapter": "command",
        "user_message": "How is it?",
        "tools": [WEATHER, "add"],
        "mcp_servers": {"shop": {"command": [*STDIO_SERVER, "--log", str(project.folder / "starts"), *server_options]}},
        "adapter_options": {"command": [sys.executable, "agent.py", "{mcp_config}"], **options},
        "assertions": [{"type": "jmespath", "path": "final_output", "operator": "eq", "value": "All is well."}],
    }
    project.write("tools.py", TOOLS)
    project.write("scenarios/served.yaml", yaml.safe_dump(scenario, sort_keys=False))


def run(project: UserProject, *options: str, script: Any = GOOD) -> Any:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        result = project.salvo("run", "--record", *options)
    project.environ = {}
    return result


def only_run(project: UserProject) -> dict[str, Any]:
    [file] = project.runs()
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def test_a_program_uses_the_tools_of_the_scenario_and_of_its_servers_and_is_replayed_in_full(
    agent: UserProject,
) -> None:
    write(agent)
    result = run(agent)
    assert result.exit_code == 0, result.output
    stored = only_run(agent)
    assert [(call["name"], call["result"]) for call in stored["tool_calls"]] == snapshot(
        [("mcp__shop__find_order", {"order_id": "A-1001", "status": "paid"}), ("mcp__salvo__weather", {"sky": "clear"})]
    )
    assert (stored["replayable"], stored["replay_note"]) == snapshot(
        (
            "full",
            "A replay starts the program again; the answers of its models and of its MCP tools come from the recording.",
        )
    )
    assert "sk-salvo-" not in agent.everything_stored()
    (agent.folder / "starts").unlink()
    replayed = agent.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output
    assert not (agent.folder / "starts").exists()


def test_a_call_that_no_model_asked_for_is_on_the_tape_too(agent: UserProject) -> None:
    write(agent, env={"DIRECT": "add add"})
    result = run(agent)
    assert result.exit_code == 0, result.output
    names = [call["name"] for call in only_run(agent)["tool_calls"]]
    assert names == ["mcp__shop__find_order", "mcp__salvo__weather", "add", "add"]
    assert (agent.folder / "added").read_text() == "xx"
    replayed = agent.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output
    assert (agent.folder / "added").read_text() == "xx"


def test_a_tool_of_the_programs_own_makes_the_replay_model_only(agent: UserProject) -> None:
    write(agent)
    run(agent, script=by_turn(FIND, UseTools(Use("own_tool", {})), Say("All is well.")))
    stored = only_run(agent)
    assert stored["replayable"] == "model-only"
    assert [call["name"] for call in stored["tool_calls"]] == ["mcp__shop__find_order", "own_tool"]


def test_a_program_that_now_calls_other_tools_diverges(agent: UserProject) -> None:
    write(agent)
    run(agent)
    agent.write(
        "agent.py",
        AGENT.replace('arguments=arguments)["content"]', 'arguments={**arguments, "order_id": "B"})["content"]'),
    )
    replayed = agent.salvo("replay", "latest")
    assert replayed.exit_code == 1
    assert "The agent now calls find_order with other arguments" in replayed.stdout


def test_a_server_that_dies_while_a_program_uses_it_is_an_error_with_its_own_cause(agent: UserProject) -> None:
    write(agent, "--fault", "die")
    result = run(agent)
    assert result.exit_code == 3
    stored = only_run(agent)
    assert (stored["outcome"], stored["cause"]) == ("error", "mcp")
    assert "The MCP server shop ended with exit code 7" in stored["error"]


def test_the_name_of_the_scenarios_own_tools_is_taken(agent: UserProject) -> None:
    write(agent)
    file = agent.folder / "scenarios/served.yaml"
    file.write_text(file.read_text().replace("  shop:", "  salvo:"))
    checked = agent.salvo("validate")
    assert checked.exit_code == 2
    assert "mcp_servers.salvo: is the name under which the command gets the scenario's own tools" in checked.stdout


LISTS = """
import json, os, urllib.request

def tools(server):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    request = urllib.request.Request(server["url"], json.dumps(body).encode(), server["headers"])
    with urllib.request.urlopen(request) as reply:
        return [tool["name"] for tool in json.loads(reply.read())["result"]["tools"]]

servers = json.load(open(os.environ["SALVO_MCP_CONFIG"]))["mcpServers"]
print(json.dumps({name: tools(server) for name, server in servers.items()}))
"""


def test_a_tool_of_the_scenario_is_not_the_servers_that_is_not_allowed_to_offer_it(agent: UserProject) -> None:
    agent.write("agent.py", LISTS)
    write(agent)
    file = agent.folder / "scenarios/served.yaml"
    scenario = yaml.safe_load(file.read_text())
    scenario["mcp_servers"]["shop"]["tools"] = ["find_order"]
    scenario["tools"] = [{"name": "echo", "response": "an echo of our own"}]
    file.write_text(yaml.safe_dump(scenario))
    agent.salvo("run")
    assert only_run(agent)["final_output"] == {"shop": ["find_order"], "salvo": ["echo"]}


PROBE = """
import http.client, json, os, sys
from urllib.parse import urlsplit

address = urlsplit(os.environ["SALVO_MCP_URL"])
token = {"authorization": "Bearer " + os.environ["SALVO_MCP_TOKEN"]}
ENVELOPE = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}

def ask(method, body, headers=token):
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.request(method, address.path, body if isinstance(body, str) else json.dumps(body), headers)
    reply = connection.getresponse()
    content = reply.read().decode()
    return [reply.status, json.loads(content) if content.startswith("{") else content]

def message(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

print(json.dumps({
    "no token": ask("POST", message("ping"), {})[0],
    "GET": ask("GET", "")[0],
    "not JSON": ask("POST", "{")[0],
    "a list": ask("POST", [message("ping")])[0],
    "a notification": ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    "ping": ask("POST", message("ping", "a")),
    "handshake": ask("POST", message("initialize", protocolVersion="1999-01-01"))[1]["result"]["protocolVersion"],
    "discover": ask("POST", message("server/discover", **ENVELOPE))[1]["result"]["supportedVersions"],
    "unknown version": ask("POST", message("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2030-01-01"})),
    "unknown method": ask("POST", message("resources/list", **ENVELOPE)),
    "unknown tool": ask("POST", message("tools/call", name="nothing", arguments={}))[1]["result"]["isError"],
    "bad arguments": ask("POST", message("tools/call", name="add", arguments={"a": "x"}))[1]["result"],
    "no name": ask("POST", message("tools/call"))[1]["error"]["code"],
    "sum": ask("POST", message("tools/call", name="add", arguments={"a": 2}))[1]["result"],
}))
"""


def test_the_server_answers_each_version_and_refuses_strangers(agent: UserProject) -> None:
    agent.write("agent.py", PROBE)
    write(agent)
    agent.salvo("run")
    assert only_run(agent)["final_output"] == snapshot(
        {
            "no token": 401,
            "GET": 405,
            "not JSON": 400,
            "a list": 400,
            "a notification": [202, ""],
            "ping": [200, {"jsonrpc": "2.0", "id": "a", "result": {}}],
            "handshake": "2025-11-25",
            "discover": ["2026-07-28"],
            "unknown version": [
                400,
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "error": {
                        "code": -32022,
                        "message": "Unsupported protocol version.",
                        "data": {"supported": ["2026-07-28"], "requested": "2030-01-01"},
                    },
                },
            ],
            "unknown method": [
                404,
                {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "There is no method resources/list."}},
            ],
            "unknown tool": True,
            "bad arguments": {
                "content": [{"type": "text", "text": "The arguments do not fit: a: 'x' is not of type 'integer'."}],
                "isError": True,
            },
            "no name": -32602,
            "sum": {"content": [{"type": "text", "text": "4"}]},
        }
    )
    assert Path(agent.folder, "added").read_text() == "x"
