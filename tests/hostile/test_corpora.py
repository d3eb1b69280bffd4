"""Ten thousand mutated files and replies: no traceback, no hang, and no process left behind."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.checks import check, parts
from tests.hostile.mutations import mutated_bytes, mutated_json
from tests.support.byop_project import ByopProject
from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject
from tests.support.provider import LoopbackProvider, Say, Use, UseTools, always, by_turn

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]


@parts
def test_mutated_scenarios_are_read_or_refused(project: UserProject, part: int) -> None:
    project.write("tools.py", TOOLS)
    file = project.write("scenarios/book_flight.yaml", BOOK_FLIGHT)
    for content in mutated_bytes(BOOK_FLIGHT.encode(), 500, f"scenario {part}"):
        file.write_bytes(content)
        check(project.salvo, "validate", "scenarios/book_flight.yaml")


@parts
def test_mutated_recordings_are_replayed_or_refused(project: UserProject, part: int) -> None:
    recording = recorded(project)
    files = sorted(file for file in recording.rglob("*") if file.is_file())
    original = {file: file.read_bytes() for file in files}
    for file in files:
        for content in mutated_bytes(original[file], 400 // len(files), f"{file.name} {part}"):
            file.write_bytes(content)
            check(project.salvo, "replay", recording.name)
        file.write_bytes(original[file])


@parts
def test_mutated_stores_are_reported_or_refused(project: UserProject, part: int) -> None:
    recorded(project)
    shutil.rmtree(project.store / "recordings", ignore_errors=True)
    files = sorted(file for file in project.store.rglob("*.json*") if "cache" not in file.parts)
    original = {file: file.read_bytes() for file in files}
    assert len(files) >= 3
    for file in files:
        for content in mutated_bytes(original[file], 400 // len(files), f"{file.name} {part}"):
            file.write_bytes(content)
            check(project.salvo, "report")
        file.write_bytes(original[file])


@parts
def test_mutated_replies_are_answers_or_errors(project: UserProject, part: int) -> None:
    project.write("scenarios/ask.yaml", "scenario: ask\nadapter: openai\nmodel: gpt-4o\nuser_message: Hello\nruns: 50\n"
                  "assertions: [{type: jmespath, path: final_output, operator: exists}]\n")  # fmt: skip
    reply = {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello.",
                     "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }  # fmt: skip
    replies = list(mutated_json(reply, 450, f"reply {part}"))
    with raw_server(replies) as url:
        project.environ = {"OPENAI_API_KEY": "sk-test-1234567890", "OPENAI_BASE_URL": url}
        for _ in range(len(replies) // 50):
            check(project.salvo, "run")
    assert len(project.runs()) == len(replies)


CASES = {
    "cases.csv": b'id,order,customer\nlate,A-1001,"Smith, Ann"\nearly,A-1002,Bob\n',
    "cases.jsonl": b'{"id": "late", "order": "A-1001", "customer": "Ann", "assertions": [{"type": "text", "contains_any": '
    b'["x"]}]}\n{"id": "early", "order": {"n": [1, 2]}, "customer": "Bob"}\n',
}
SUITE = """
scenario: refund
adapter: openai
cases: cases.csv
matrix: {model: [gpt-5.4-mini, gpt-5.4], prompt: {short: {system_prompt: Be short.}, kind: {system_prompt: Be kind.}}}
exclude: [{case: late, model: gpt-5.4}]
private: [customer]
user_message: "Refund order {{ order }} for {{ customer }}."
assertions: [{type: jmespath, path: final_output, operator: contains, value: "{{ order }}"}]
"""


@parts
def test_mutated_cases_are_read_or_refused(project: UserProject, part: int) -> None:
    for name, valid in CASES.items():
        file = project.write(f"scenarios/{name}", "")
        project.write("scenarios/refund.yaml", SUITE.replace("cases.csv", name))
        for content in mutated_bytes(valid, 150, f"{name} {part}"):
            file.write_bytes(content)
            check(project.salvo, "validate", "scenarios/refund.yaml")
        file.write_bytes(valid)
    file = project.write("scenarios/refund.yaml", SUITE)
    for content in mutated_bytes(SUITE.encode(), 150, f"suite {part}"):
        file.write_bytes(content)
        check(project.salvo, "validate", "scenarios/refund.yaml")


PROMPTFOO = {
    "description": "Support",
    "prompts": ["Answer {{q}}.", {"label": "chat", "raw": '[{"role": "user", "content": "{{q}}"}]'}, "file://p.txt"],
    "providers": ["openai:gpt-5.4-mini", {"id": "anthropic:messages:claude-haiku-4-5", "config": {"max_tokens": 9}}],
    "defaultTest": {"vars": {"a": 1}, "assert": [{"type": "latency", "threshold": 5000}], "options": {"provider": "x:y"}},
    "tests": [
        {"description": "t", "vars": {"q": ["x", "y"]}, "threshold": 0.5, "providers": ["gpt*"], "assert": [
            {"type": "icontains", "value": "{{q}}", "weight": 2}, {"type": "not-regex", "value": "^[0-9]+$"},
            {"type": "contains-all", "value": ["a", "b"]}, {"type": "is-json", "value": {"type": "object"}},
            {"type": "assert-set", "assert": [{"type": "equals", "value": "x"}], "threshold": 0.5},
            {"type": "llm-rubric", "value": "Is kind.", "provider": "openai:gpt-5.4"}, {"type": "cost", "threshold": 1},
            {"type": "python", "value": "file://check.py"}, {"type": "levenshtein", "value": "x", "threshold": 5}]},
        "file://tests.csv",
    ],
    "scenarios": [{"config": [{"vars": {"a": 2}}], "tests": [{"vars": {"q": "z"}, "assert": [{"type": "is-refusal"}]}]}],
    "evaluateOptions": {"repeat": 2, "maxConcurrency": 4},
}  # fmt: skip


@parts
def test_mutated_configurations_of_promptfoo_are_imported_or_refused(project: UserProject, part: int) -> None:
    project.write("p.txt", "Hello {{q}}\n---\nBye {{q}}")
    table = b"q,__expected,__threshold\nx,contains:y,0.5\n"
    tests = project.write("tests.csv", table.decode())
    config = project.write("promptfooconfig.yaml", json.dumps(PROMPTFOO))
    command = ("import", "promptfoo", "promptfooconfig.yaml", "-o", "imported", "--name", "suite", "--force")
    assert project.salvo(*command).exit_code == 3
    for content in mutated_json(PROMPTFOO, 300, f"promptfoo {part}"):
        config.write_bytes(content)
        check(project.salvo, *command)
    config.write_text(json.dumps(PROMPTFOO))
    for content in mutated_bytes(table, 50, f"tests {part}"):
        tests.write_bytes(content)
        check(project.salvo, *command)


@parts
def test_mutated_scores_judgings_and_cached_replies_are_read_or_refused(project: UserProject, part: int) -> None:
    project.write("scenarios/ask.yaml", "scenario: ask\nadapter: openai\nmodel: gpt-4o\nuser_message: Hello\nruns: 2\n"
                  "assertions: [{type: llm_judge, name: kind, rubric: It is kind., k: 1}]\n")  # fmt: skip
    with LoopbackProvider(always(Say('{"passed": true, "reason": "so"}'))) as provider:
        project.reach(provider)
        project.salvo("run", "--cache")
        [batch] = (project.store / "batches").glob("*.json")
        project.salvo("judge", batch.stem, "--times", "2")
        project.salvo("score", batch.stem)
        [score] = (project.store / "scores").glob("score-*")
        judgings = ("judge", batch.stem, "--times", "2")
        commands = {
            score / "score.json": ("report", score.name),
            next(score.glob("*-0001.json")): ("report", score.name),
            project.store / "judgings" / f"{batch.stem}.jsonl": judgings,
            next((project.store / "cache" / "replies").glob("*.json")): ("run", "--cache"),
        }
        for file, command in commands.items():
            original = file.read_bytes()
            for content in mutated_bytes(original, 60, f"{file.parent.name} {part}"):
                file.write_bytes(content)
                check(project.salvo, *command)
            file.write_bytes(original)


SERVER = """
import sys
replies = open("replies.bin", "rb").read().split(b"\\0\\0")
for line, reply in zip(sys.stdin, replies):
    sys.stdout.buffer.write(reply + b"\\n")
    sys.stdout.buffer.flush()
"""
MCP_REPLIES: tuple[Any, ...] = (
    {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {
        "name": "shop", "version": "1"}, "instructions": "Be kind."}},
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "find", "description": "Finds.", "inputSchema": {
        "type": "object", "properties": {"id": {"type": "string", "pattern": "^[A-Z]+$"}}}, "outputSchema": {
        "type": "object"}}], "nextCursor": None}},
    {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "found"}], "structuredContent": {
        "status": "paid"}, "isError": False}},
)  # fmt: skip


@parts
def test_mutated_replies_of_an_mcp_server_are_answers_or_errors(project: UserProject, part: int) -> None:
    project.write("server.py", SERVER)
    project.write("scenarios/ask.yaml", "scenario: ask\nadapter: openai\nmodel: gpt-4o\nuser_message: Hello\nruns: 1\n"
                  f"mcp_servers: {{shop: {{command: [{sys.executable}, server.py], timeout: 2, protocol: '2025-11-25'}}}}\n"
                  "assertions: [{type: jmespath, path: final_output, operator: exists}]\n")  # fmt: skip
    changed = [list(mutated_json(reply, 40, f"mcp {part} {index}")) for index, reply in enumerate(MCP_REPLIES)]
    script = by_turn(UseTools(Use("find", {"id": "A"})), Say("Done."))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        for index, contents in enumerate(changed):
            for content in contents:
                replies = [json.dumps(reply).encode() for reply in MCP_REPLIES]
                replies[index] = content
                (project.folder / "replies.bin").write_bytes(b"\0\0".join(replies))
                check(project.salvo, "run")


@parts
def test_mutated_playbooks_are_read_or_refused(byop_project: ByopProject, part: int) -> None:
    document = json.loads(byop_project.byop("playbooks", "show", "ai_plugin_observability_v1", "--json").stdout)
    byop_project.write("own.json", json.dumps(document))
    assert byop_project.byop("validate", "own.json").exit_code == 0
    for content in mutated_json(document, 400, f"playbook {part}"):
        byop_project.write("own.json", content)
        check(byop_project.byop, "validate", "own.json")


@parts
def test_mutated_reports_are_verified_or_refused(byop_project: ByopProject, part: int) -> None:
    byop_project.byop("run", "output.md", "--evaluator", "rules", "-o", "report.json")
    document: Any = json.loads((byop_project.folder / "report.json").read_text())
    for content in mutated_json(document, 400, f"report {part}"):
        byop_project.write("mutated.json", content)
        check(byop_project.byop, "verify", "mutated.json")


def recorded(project: UserProject) -> Path:
    """Record one run, and return the folder of its recording."""
    project.write("scenarios/ask.yaml", "scenario: ask\nadapter: openai\nmodel: gpt-4o\nuser_message: Hello\nruns: 1\n"
                  "assertions: [{type: jmespath, path: final_output, operator: exists}]\n")  # fmt: skip
    with LoopbackProvider(always(Say("Hello."))) as provider:
        project.reach(provider)
        assert project.salvo("run", "--record").exit_code == 0
    [recording] = (project.store / "recordings").iterdir()
    return recording


@contextmanager
def raw_server(replies: list[bytes]) -> Iterator[str]:
    """Serve each reply once, whatever is asked for."""
    remaining = iter(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = next(remaining, b"{}")
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
