"""Ten thousand mutated files and replies: no traceback, no hang, and no process left behind."""

import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import Result

from tests.hostile.mutations import mutated_bytes, mutated_json
from tests.support.byop_project import ByopProject
from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject
from tests.support.provider import LoopbackProvider, Say, always

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]

CPU_SECONDS = 5
PARTS = 4
"""Each corpus is split, so that several processes share it."""

parts = pytest.mark.parametrize("part", range(PARTS))


def children() -> set[str]:
    """The processes that this one has started and that still run; empty where the system does not list them."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(listed.read_text().split()) if listed.exists() else set()


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Raise where one input takes more than five seconds of CPU: unlike time, that is the same on a busy machine."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"This took more than {CPU_SECONDS} seconds of CPU.")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check(command: Callable[..., Result], *arguments: str) -> None:
    with cpu_limit():
        result = command(*arguments)
    assert result.exit_code in range(6), result.output
    assert "Traceback" not in result.output
    assert "\x1b]" not in result.output


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    (tmp_path / ".git").mkdir()
    return UserProject(tmp_path, monkeypatch)


@pytest.fixture
def byop_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ByopProject:
    return ByopProject(tmp_path, monkeypatch)


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
