"""`mcp_servers`: tools from MCP servers, over standard input and output and over HTTP, recorded and replayed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from inline_snapshot import snapshot

from tests.support.mcp import STDIO_SERVER
from tests.support.mcp.http_server import http_shop
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, ProviderRequest, Say, Use, UseTools, by_turn

FIND = UseTools(Use("find_order", {"order_id": "A-1001"}))
REFUND = UseTools(Use("issue_refund", {"order_id": "A-1001"}))
AGENT = by_turn(FIND, REFUND, Say("Done."))


def write(project: UserProject, server: dict[str, Any], **fields: Any) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    scenario = {
        "scenario": "refund",
        "adapter": "openai",
        "model": "gpt-5.4-mini",
        "user_message": "Refund order A-1001.",
        "mcp_servers": {"shop": server},
        "assertions": [{"type": "tool_sequence", "expected": ["find_order", "issue_refund"]}],
        **fields,
    }
    project.write("scenarios/refund.yaml", yaml.safe_dump(scenario, sort_keys=False))


def stdio(project: UserProject, *options: str, **fields: Any) -> dict[str, Any]:
    return {"command": [*STDIO_SERVER, "--log", str(project.folder / "starts"), *options], **fields}


def run(project: UserProject, *options: str, script: Any = AGENT) -> Any:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        result = project.salvo("run", *options)
    project.environ = {}
    return result


def only_run(project: UserProject) -> dict[str, Any]:
    [file] = project.runs()
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def processes(project: UserProject) -> list[int]:
    return [int(line) for line in (project.folder / "starts").read_text().split()]


def assert_all_ended(project: UserProject) -> None:
    """A process that was killed may need a moment until it is gone."""
    for process in processes(project):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                break
            if state == "Z":  # ended; its parent, which was killed too, has not waited for it
                break
            time.sleep(0.02)
        else:
            pytest.fail(f"the process {process} is still running")


@pytest.mark.parametrize("era", ["modern", "handshake"])
def test_the_agent_gets_the_tools_of_a_program_and_a_replay_starts_none(project: UserProject, era: str) -> None:
    write(project, stdio(project, "--era", era))
    result = run(project, "--record", "-n", "3")
    assert result.exit_code == 0, result.output
    assert len(processes(project)) == 3
    assert_all_ended(project)
    stored = json.loads(project.runs()[0].read_text())
    assert [(call["name"], call["result"]) for call in stored["tool_calls"]] == [
        ("find_order", {"order_id": "A-1001", "status": "paid"}),
        ("issue_refund", "refunded A-1001"),
    ]
    assert stored["replayable"] == "full"
    (project.folder / "starts").unlink()
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout
    assert not (project.folder / "starts").exists()


def test_a_server_of_the_batch_is_started_once(project: UserProject) -> None:
    write(project, stdio(project, scope="batch"))
    result = run(project, "-n", "20")
    assert result.exit_code == 0, result.output
    assert len(processes(project)) == 1
    assert_all_ended(project)


@pytest.mark.parametrize("era", ["modern", "handshake"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_agent_gets_the_tools_of_an_address(project: UserProject, era: str, stream: bool) -> None:
    with http_shop(era=era, stream=stream, token="t0p-s3cret-t0ken") as shop:
        project.monkeypatch.setenv("SHOP_TOKEN", "t0p-s3cret-t0ken")
        write(project, {"url": shop.url, "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"}})
        result = run(project, "--record")
        assert result.exit_code == 0, result.output
    assert f"Calls go to {shop.url}, with SHOP_TOKEN." in result.stderr
    handshake = ["server/discover", "initialize", "notifications/initialized"]
    agreed = ["server/discover"] if era == "modern" else handshake
    calls = ["tools/list", "tools/call", "tools/call"]
    assert shop.methods == [*agreed, *calls, *(["DELETE"] if era == "handshake" else [])]
    if era == "modern":
        _, headers, message = shop.requests[-1]
        assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", "issue_refund")
        assert headers["mcp-protocol-version"] == "2026-07-28"
        assert message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "salvo"
    assert "t0p-s3cret-t0ken" not in project.everything_stored()
    replayed = project.salvo("replay", "latest")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.output


def test_only_the_allowed_tools_are_given_to_the_model(project: UserProject) -> None:
    tools: list[str] = []

    def script(request: ProviderRequest) -> Say:
        tools.extend(tool["function"]["name"] for tool in request.body["tools"])
        return Say("Done.")

    write(project, stdio(project, tools=["echo", "find_order"]))
    run(project, script=script)
    assert tools == ["echo", "find_order"]


def test_arguments_are_checked_before_the_server_gets_them(project: UserProject) -> None:
    write(project, stdio(project))
    run(project, script=by_turn(UseTools(Use("find_order", {"id": 3})), Say("Sorry.")))
    [call] = only_run(project)["tool_calls"]
    assert call["error"].startswith("The arguments do not fit")


def test_an_error_of_a_tool_is_an_answer_for_the_agent(project: UserProject) -> None:
    write(project, stdio(project), assertions=[{"type": "tool_sequence", "expected": ["issue_refund"]}])
    result = run(project, script=by_turn(UseTools(Use("issue_refund", {"order_id": "B"})), Say("Sorry.")))
    assert result.exit_code == 0
    assert only_run(project)["tool_calls"][0]["error"] == "issue_refund cannot do that"


def test_faults_of_the_scenario_come_before_the_answers_of_the_server(project: UserProject) -> None:
    faults = {
        "find_order": [{"error": "503, try again"}, {"when": {"order_id": "A-1001"}, "result": {"status": "lost"}}]
    }
    write(
        project, stdio(project, faults=faults), assertions=[{"type": "tool_sequence", "expected": ["find_order"] * 3}]
    )
    result = run(project, "--record", script=by_turn(FIND, FIND, FIND, Say("Done.")))
    assert result.exit_code == 0, result.output
    calls = only_run(project)["tool_calls"]
    assert [call["error"] or call["result"]["status"] for call in calls] == ["503, try again", "lost", "paid"]
    assert "Identical" in project.salvo("replay", "latest").stdout


FAULTS = {
    "die-at-start": "The MCP server shop ended with exit code 7. The last line of its standard error: the database is gone",
    "die": "The MCP server shop ended with exit code 7. The last line of its standard error: the database is gone",
    "hang": "The MCP server shop did not answer tools/call within 1 s. If it needs longer, set mcp_servers.shop.timeout.",
    "hang-at-start": "The MCP server shop did not answer initialize within 1 s. If it needs longer, set mcp_servers.shop.timeout.",
    "flood": "The MCP server shop wrote more than 10,485,760 bytes to its standard error without an answer.",
    "endless": "The MCP server shop sent a message of more than 16,777,216 bytes.",
    "garbage": 'The MCP server shop sent something that is no message of the protocol: "Listening on port 8080 ...". '
    "A server on standard output must print nothing else; its log belongs on standard error.",
    "no-result": "The MCP server shop answered tools/call with neither a result nor an error.",
    "deaf": "The MCP server shop closed its standard output.",
    "relists": "The MCP server shop lists other tools than in the first run of this batch: echo is gone, issue_refund is gone. "
    "All runs of a batch must have the same tools; start a new batch.",
    "bad-output": "The MCP server shop answered a call of find_order with what its own outputSchema does not allow: "
    "status: 5 is not of type 'string'.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_is_an_error_with_its_own_cause_and_leaves_no_process(
    project: UserProject, fault: str
) -> None:
    timeout = 1 if fault.startswith("hang") else 30
    write(project, stdio(project, "--fault", fault, timeout=timeout))
    result = run(project, "--record")
    assert result.exit_code == 3, result.output
    stored = only_run(project)
    assert (stored["outcome"], stored["cause"], stored["weighted_score"]) == ("error", "mcp", None)
    assert stored["error"] == FAULTS[fault]
    assert "an MCP server failed" in result.stdout
    assert_all_ended(project)
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert len(processes(project)) == 1


def test_the_children_of_a_server_are_ended_with_it(project: UserProject) -> None:
    write(project, stdio(project, "--fault", "child"))
    assert run(project).exit_code == 0
    assert len(processes(project)) == 2
    assert_all_ended(project)


def test_a_server_that_changes_its_list_between_two_runs_is_an_error(project: UserProject) -> None:
    write(project, stdio(project, "--fault", "changes"), concurrency=1)
    result = run(project, "-n", "2")
    assert result.exit_code == 3
    outcomes = [json.loads(file.read_text()) for file in project.runs()]
    assert [(item["outcome"], item["cause"]) for item in outcomes] == [("passed", None), ("error", "mcp")]
    assert "find_order has changed, issue_refund is gone" in outcomes[1]["error"]


def test_a_server_of_the_batch_that_died_makes_the_other_runs_errors_before_the_model_is_asked(
    project: UserProject,
) -> None:
    write(project, stdio(project, "--fault", "die", scope="batch"), concurrency=1)
    with LoopbackProvider(AGENT) as provider:
        project.reach(provider)
        result = project.salvo("run", "-n", "3")
        assert len(provider.requests) == 1
    assert result.exit_code == 3
    assert [json.loads(file.read_text())["cause"] for file in project.runs()] == ["mcp"] * 3
    assert len(processes(project)) == 1


def test_a_list_that_differs_from_the_batch_before_is_reported_and_compared(project: UserProject) -> None:
    write(project, stdio(project))
    assert "lists other tools" not in run(project).stderr
    write(project, stdio(project, "--fault", "changes"))
    result = run(project)
    assert "refund: the MCP server shop lists other tools than in the batch " in result.stderr
    assert "find_order has changed, issue_refund is gone." in result.stderr
    first, second = sorted(file.stem for file in (project.store / "batches").glob("*.json"))
    batch = json.loads((project.store / "batches" / f"{first}.json").read_text())
    assert sorted(batch["mcp_servers"]["shop"]["tools"]) == ["echo", "find_order", "issue_refund"]
    compared = project.salvo("compare", first, second)
    assert "the tool find_order of the MCP server shop" in compared.stdout


def test_a_time_limit_that_a_server_uses_up_is_not_the_agents(project: UserProject) -> None:
    write(project, stdio(project, "--fault", "hang"), timeout=1)
    result = run(project)
    assert result.exit_code == 3
    stored = only_run(project)
    assert stored["cause"] == "mcp"
    assert stored["error"] == snapshot(
        "The time limit of 1 s was over while the MCP server shop had not answered a call, so this run says nothing about the agent."
    )
    assert_all_ended(project)


@pytest.mark.parametrize(
    "reply, status, message",
    [
        (b"<html>", 200, 'sent something that is no message of the protocol: "<html>". Check mcp_servers.shop.url.'),
        (b" " * (16 * 1024 * 1024 + 1), 200, "sent a message of more than 16,777,216 bytes."),
        (b"{}", 401, "refused the request with status 401. Check mcp_servers.shop.headers."),
        (b"oops", 502, "failed with status 502."),
        (b"", 307, "redirects with status 307, and a redirect is not followed"),
        (b'{"jsonrpc": "2.0", "id": 99, "result": {}}', 200, "ended its reply to tools/call without an answer."),
    ],
)
def test_garbage_from_an_address_is_an_error_with_its_own_cause(
    project: UserProject, reply: bytes, status: int, message: str
) -> None:
    with http_shop(reply=reply, status=status) as shop:
        write(project, {"url": shop.url})
        assert run(project).exit_code == 3
    stored = only_run(project)
    assert stored["cause"] == "mcp"
    assert message in stored["error"]


def test_an_address_where_nobody_listens_is_an_error_with_its_own_cause(project: UserProject) -> None:
    with http_shop() as shop:
        pass
    write(project, {"url": shop.url})
    assert run(project).exit_code == 3
    assert (
        only_run(project)["cause"],
        only_run(project)["error"].startswith("The MCP server shop of refund at 127.0.0.1:"),
    ) == ("mcp", True)


def test_two_tools_of_one_name_are_an_error_that_says_how_to_choose(project: UserProject) -> None:
    write(project, stdio(project), tools=[{"name": "echo", "response": 1}])
    assert run(project).exit_code == 3
    assert only_run(project)["error"] == snapshot(
        "The MCP server shop and the scenario both have a tool called echo. Choose the tools of the server with mcp_servers.shop.tools."
    )


def test_a_server_that_is_slow_to_start_is_asked_again(project: UserProject) -> None:
    project.monkeypatch.setattr("salvo.engine.mcp.client._MAX_PROBE", 0.3)
    write(project, stdio(project, "--fault", "slow-start"))
    result = run(project)
    assert result.exit_code == 0, result.output


def test_a_delay_of_the_scenario_counts_as_the_agents_time(project: UserProject) -> None:
    write(project, stdio(project, faults={"find_order": [{"delay": 30}]}), timeout=1)
    assert run(project).exit_code == 1
    assert only_run(project)["cause"] == "timeout"


def test_a_protocol_that_the_server_does_not_speak_is_named(project: UserProject) -> None:
    write(project, stdio(project, "--era", "handshake", protocol="2026-07-28"))
    assert run(project).exit_code == 3
    assert only_run(project)["error"] == snapshot(
        "The MCP server shop does not speak the protocol of 2026-07-28: it answers 'not in this version'. Check mcp_servers.shop.protocol; Salvo speaks 2026-07-28 and 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05."
    )


def test_a_version_that_yaml_reads_as_a_date_is_a_version(project: UserProject) -> None:
    write(project, stdio(project, "--era", "handshake", protocol="2025-11-25"))
    file = project.folder / "scenarios/refund.yaml"
    file.write_text(file.read_text().replace("'2025-11-25'", "2025-11-25"))
    assert run(project).exit_code == 0
    [batch] = (project.store / "batches").glob("*.json")
    assert json.loads(batch.read_text())["mcp_servers"]["shop"]["protocol"] == "2025-11-25"


def test_scenarios_in_pytest_get_the_tools_too(project: UserProject) -> None:
    write(project, stdio(project))
    with LoopbackProvider(AGENT) as provider:
        project.reach(provider)
        command = [sys.executable, "-m", "pytest", "-p", "salvo.pytest_plugin", "--salvo", "-q", "scenarios"]
        environ = {**os.environ, **project.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        result = subprocess.run(
            command, check=False, cwd=project.folder, env=environ, capture_output=True, text=True, timeout=100
        )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout
    assert_all_ended(project)


def test_a_tool_that_the_server_does_not_have_is_named(project: UserProject) -> None:
    write(project, stdio(project, tools=["find_orders"]))
    assert run(project).exit_code == 3
    assert only_run(project)["error"] == snapshot(
        "The MCP server shop has no tool called find_orders. It lists: echo, find_order, issue_refund."
    )


def test_ctrl_c_ends_the_servers(project: UserProject) -> None:
    write(project, stdio(project, "--fault", "hang", scope="batch"))
    with LoopbackProvider(AGENT) as provider:
        project.reach(provider)
        process = project.process("run")
        deadline = time.monotonic() + 60
        while len(provider.requests) < 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert_all_ended(project)


def test_a_command_that_is_killed_leaves_no_server(project: UserProject) -> None:
    write(project, stdio(project, "--fault", "hang"))
    with LoopbackProvider(AGENT) as provider:
        project.reach(provider)
        process = project.process("run")
        deadline = time.monotonic() + 60
        while len(provider.requests) < 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)  # until the server has the call, at which it hangs
        process.kill()
        process.communicate(timeout=60)
    assert_all_ended(project)


def echoed(project: UserProject, name: str, **fields: Any) -> Any:
    write(project, stdio(project, **fields), assertions=[{"type": "tool_sequence", "expected": ["echo"]}])
    run(project, script=by_turn(UseTools(Use("echo", {"name": name})), Say("Done.")))
    return only_run(project)["tool_calls"][0]["result"]


def test_a_server_gets_no_keys(project: UserProject) -> None:
    project.monkeypatch.setenv("SHOP_DATABASE", "postgres")
    assert echoed(project, "OPENAI_API_KEY") == "not set"


def test_a_server_gets_the_variables_that_the_scenario_names(project: UserProject) -> None:
    project.monkeypatch.setenv("SHOP_REGION", "north")
    assert echoed(project, "REGION", env={"REGION": "the ${SHOP_REGION}"}) == "the north"


@pytest.mark.parametrize(
    "server",
    [
        {"env": {"KEY": "${OPENAI_API_KEY}"}},
        {"pass_env": ["OPENAI_API_KEY"]},
        {"command": ["python3", "server.py", "${GITHUB_TOKEN}"]},
        {"url": "https://x.example/${MY_SECRET}/mcp"},
        {"url": "https://x.example/mcp", "headers": {"X-Token": "${AWS_SECRET_ACCESS_KEY}"}},
    ],
)
def test_a_credential_needs_a_grant(project: UserProject, server: dict[str, Any]) -> None:
    for name in ("GITHUB_TOKEN", "MY_SECRET", "AWS_SECRET_ACCESS_KEY"):
        project.monkeypatch.setenv(name, "0123456789abcdef")
    write(project, server if "url" in server or "command" in server else {**stdio(project), **server})
    project.environ = {"OPENAI_API_KEY": "sk-0123456789abcdef"}
    checked = project.salvo("validate")
    assert checked.exit_code == 2
    assert "is a credential, and this file would give it to" in checked.stdout
    name = next(
        name
        for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "MY_SECRET", "AWS_SECRET_ACCESS_KEY")
        if name in checked.stdout
    )
    granted = project.salvo("validate", "--allow-env", name)
    assert granted.exit_code == 0, granted.stdout
    assert name in granted.stdout


def test_the_command_of_a_server_is_listed_as_code(project: UserProject) -> None:
    project.write("server.sh", "#!/bin/sh\n").chmod(0o755)
    write(project, {"command": ["./server.sh", "--all"], "env": {"LD_PRELOAD": "x.so"}})
    assert project.salvo("validate", "--trust").stdout == snapshot("""\
scenarios/refund.yaml:7: mcp_servers.shop.command: command LD_PRELOAD=x.so ./server.sh --all -> server.sh (in the project)
1 scenario: 0 Python modules, 1 command. Nothing was imported or started.
""")


@pytest.mark.parametrize(
    "server, message",
    [
        ({"command": ["./nowhere"]}, "mcp_servers.shop.command: there is no executable program ./nowhere"),
        ({"command": "python3 'x"}, "mcp_servers.shop.command: cannot be split into words: No closing quotation"),
        ({"command": ["python3"], "cwd": "nowhere"}, "mcp_servers.shop.cwd: there is no such folder"),
        ({"url": "ftp://x"}, "mcp_servers.shop.url: must begin with http:// or https://"),
        ({"url": "https://x/${NOT_THERE}"}, "mcp_servers.shop.url: the environment variable NOT_THERE is not set"),
        ({}, "mcp_servers.shop: needs a command or a url, and not both"),
        ({"url": "https://x", "env": {"A": "b"}}, "mcp_servers.shop: has env, which only a server with a command has"),
        ({"url": "https://x", "scoop": "batch"}, 'mcp_servers.shop.scoop: no such field; did you mean "scope"?'),
    ],
)
def test_mistakes_in_a_server_are_found_before_anything_runs(
    project: UserProject, server: dict[str, Any], message: str
) -> None:
    write(project, server)
    checked = project.salvo("validate")
    assert checked.exit_code == 2
    assert message in checked.stdout


def test_a_batch_of_an_earlier_version_can_be_resumed(project: UserProject) -> None:
    write(project, stdio(project))
    with LoopbackProvider(AGENT) as provider:
        project.reach(provider)
        project.write("scenarios/refund.yaml", PLAIN)
        project.salvo("run", "-n", "2")
        [file] = (project.store / "batches").glob("*.json")
        batch = json.loads(file.read_text())
        del batch["scenario"]["mcp_servers"], batch["mcp_servers"]
        file.write_text(json.dumps(batch))
        project.runs()[1].unlink()
        resumed = project.salvo("run", "--resume", "latest")
    assert resumed.exit_code == 0, resumed.output
    assert len(project.runs()) == 2


PLAIN = """
scenario: plain
adapter: openai
model: gpt-5.4-mini
user_message: Hello
tools: [{name: find_order, response: 1}, {name: issue_refund, response: 1}]
assertions:
  - {type: jmespath, path: final_output, operator: eq, value: Done.}
"""


HOSTILE = """
import json, os, sys

mode, secret = sys.argv[1], os.environ["TOKEN"]
if mode == "stderr":
    sys.exit("x" * 185 + secret)
if mode == "stdout":
    print("x" * 185 + secret, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    tool = {"name": "find", "inputSchema": {"type": "object"}}
    answer = {"result": {"tools": [tool]}}
    if message["method"] == "server/discover":
        answer = {"error": {"code": -32601, "message": "x" * 190 + secret}}
    elif message["method"] == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "n" * 9_000_000}}}
    elif mode == "name":
        tool["name"] = "n" * 9_000_000
    elif mode == "list":
        tool.update(name=f"t{message['id']}", description="d" * 15_000_000)
        answer["result"]["nextCursor"] = "more"
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize("mode", ["stderr", "stdout", "refusal", "name", "list"])
def test_no_part_of_a_secret_and_nothing_huge_of_a_server_is_stored(project: UserProject, mode: str) -> None:
    project.write("server.py", HOSTILE)
    project.monkeypatch.setenv("FAVOURITE", "Zq7Zq8Zq9Wm1Wm2Wm3Kj4Kj5Kj6")
    protocol = "2026-07-28" if mode == "refusal" else "auto"
    command = [sys.executable, "server.py", mode]
    write(project, {"command": command, "env": {"TOKEN": "${FAVOURITE}"}, "protocol": protocol})
    result = run(project, "--record")
    assert result.exit_code == 3, result.output
    stored = project.everything_stored()
    assert "Zq7Zq8" not in stored + result.output
    assert len(stored) + len(result.output) < 100_000
