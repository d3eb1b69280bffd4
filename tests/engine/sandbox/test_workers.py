"""Worker processes: what they may do, and that none is left when nobody waits for it any more."""

import asyncio
import io
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.sandbox import worker, workers
from salvo.engine.sandbox.frames import read_frame, write_frame
from salvo.engine.sandbox.workers import SandboxResult, in_killable_thread, run, time_budget

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
ENDLESS = {"patterns": ["(a+)+$"], "text": "a" * 60 + "!", "flags": 0, "most": 9, "empty": False}
WITHIN = 30.0
"""Seconds until a test gives up; nothing here takes so long."""


@pytest.fixture(autouse=True)
def own_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[workers._WorkerPool]:
    own = workers._WorkerPool()
    monkeypatch.setattr(workers, "_workers", own)
    yield own
    own.close()


def children(pid: int) -> set[int]:
    """The processes that this process has started, and that have not ended."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.add(int(stat.parent.name))
    return found


def wait_until_gone(pid: int) -> None:
    """Return when the process has ended, whoever its parent is."""
    handle = os.pidfd_open(pid)
    try:
        ended, _, _ = select.select([handle], [], [], WITHIN)
        assert ended, f"the process {pid} is still there"
    finally:
        os.close(handle)


@given(
    st.text("abAB\n\ud800é", max_size=30), st.sampled_from(["a", "a+b", "^b", "(?:a|b)b", "(?m)b$", "(?i)É", "(a|b)*"])
)
def test_a_worker_finds_what_python_finds(text: str, pattern: str) -> None:
    answer = run("regex", "occurrences", ENDLESS | {"patterns": [pattern], "text": text, "most": 99}, seconds=WITHIN)
    spans = [list(match.span()) for match in re.finditer(pattern, text) if match.end() > match.start()]
    assert answer == SandboxResult([spans])


def test_a_worker_is_used_again_and_a_slow_one_delays_no_other(own_workers: workers._WorkerPool) -> None:
    slow = threading.Thread(target=run, args=("regex", "occurrences", ENDLESS), kwargs={"seconds": WITHIN})
    slow.start()
    for _ in range(3):
        assert (
            run("regex", "pattern_error", {"pattern": "(", "flags": 0}, seconds=WITHIN).results[0].startswith("missing")
        )
    assert len(own_workers._all) == 2
    own_workers.close()
    slow.join(WITHIN)
    assert not slow.is_alive()


@linux
async def test_a_caller_that_is_cancelled_leaves_no_process() -> None:
    before = children(os.getpid())
    task = asyncio.create_task(in_killable_thread(lambda: run("regex", "occurrences", ENDLESS, seconds=600)))
    while not (started := await asyncio.to_thread(lambda: children(os.getpid()) - before)):
        pass
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in started:
        await asyncio.to_thread(wait_until_gone_or_reaped, pid)


def wait_until_gone_or_reaped(pid: int) -> None:
    try:
        wait_until_gone(pid)
    except ProcessLookupError:
        return


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_worker_in_the_middle_of_a_match_ends_with_its_parent(how: signal.Signals) -> None:
    program = f"from salvo.engine.sandbox.workers import run; run('regex', 'occurrences', {ENDLESS!r}, seconds=600)"
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    while not (started := children(parent.pid)):
        assert parent.poll() is None
    [pid] = started
    handle = os.pidfd_open(pid)  # from now on its number cannot belong to another
    os.close(handle)
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11] == "0":
        pass  # until it has used some time, so it is not only about to start
    parent.send_signal(how)
    parent.wait(WITHIN)
    wait_until_gone_or_reaped(pid)


def test_a_program_that_ends_waits_until_its_workers_have_ended(own_workers: workers._WorkerPool) -> None:
    run("regex", "pattern_error", {"pattern": "a", "flags": 0}, seconds=WITHIN)
    [worker] = own_workers._all
    own_workers.close()
    assert worker.process.returncode == -signal.SIGKILL


def test_a_program_that_ends_while_it_starts_a_worker_leaves_none(
    own_workers: workers._WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, may_start = threading.Event(), threading.Event()
    processes = []
    start_process = workers._start_process

    def start_slowly(group: str) -> "subprocess.Popen[bytes]":
        starting.set()
        may_start.wait(WITHIN)
        processes.append(start_process(group))
        return processes[-1]

    monkeypatch.setattr(workers, "_start_process", start_slowly)
    caller = threading.Thread(target=run, args=("regex", "occurrences", ENDLESS), kwargs={"seconds": 600})
    caller.start()
    starting.wait(WITHIN)
    closing = threading.Thread(target=own_workers.close)
    closing.start()
    closing.join(0.2)  # it does not end before the worker is there to be killed
    may_start.set()
    closing.join(WITHIN)
    caller.join(WITHIN)
    assert not caller.is_alive()
    assert [process.returncode for process in processes] == [-signal.SIGKILL]
    refused = run("regex", "pattern_error", {"pattern": "a", "flags": 0}, seconds=WITHIN)
    assert refused == SandboxResult([], ": no process could be started (the program is ending)")


def test_the_time_of_many_operations_can_be_limited_together() -> None:
    with time_budget(1.0):
        first = run("regex", "occurrences", ENDLESS, seconds=600)
        second = run("regex", "pattern_error", {"pattern": "a", "flags": 0}, seconds=600)
    assert first.timed_out
    assert second == SandboxResult([], " within the 1 seconds for all of them together", timed_out=True)


def test_those_that_find_no_free_worker_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_WORKERS", 0)
    answer = run("regex", "pattern_error", {"pattern": "a", "flags": 0}, seconds=0.01)
    assert answer == SandboxResult([], ": too many others were running", timed_out=True)


def test_a_worker_gets_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\n/usr/bin/env > {environment}\nexec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted")
    monkeypatch.setenv("PYTHONPATH", "/planted")
    monkeypatch.setattr(sys, "executable", str(interpreter))
    assert run("regex", "pattern_error", {"pattern": "a", "flags": 0}, seconds=WITHIN).results == [""]
    assert "planted" not in environment.read_text()


CONFINED = """
import os, socket, subprocess, sys
from salvo.engine.sandbox.confinement import confine
confine(os.getppid(), memory_bytes=400 * 1024 * 1024, cpu_seconds=20)
def refused(action):
    try:
        action()
    except (OSError, MemoryError) as error:
        return type(error).__name__
    return "allowed"
print(refused(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])))))
print(refused(lambda: subprocess.run(["true"])))
print(refused(lambda: os.fork() or os._exit(0)))
print(refused(lambda: open(sys.argv[2], "w").write("x")))
print(refused(lambda: os.remove(sys.argv[3])))
print(refused(lambda: bytearray(1024 * 1024 * 1024)))
"""


@linux
def test_a_worker_cannot_connect_start_write_delete_or_take_all_memory(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", CONFINED, str(server.getsockname()[1]), str(tmp_path / "new"), str(there)]
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN, check=False)
    assert outcome.stdout.split() == [*["PermissionError"] * 5, "MemoryError"], outcome.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_request_names_an_operation_of_a_closed_table() -> None:
    requests, replies = io.BytesIO(), io.BytesIO()
    write_frame(requests, {"operation": "double", "arguments": {"number": 4}, "seconds": 0}, b"xy")
    requests.seek(0)

    def double(arguments: Mapping[str, Any], content: bytes) -> Iterator[Any]:
        yield arguments["number"] * 2
        yield content.decode() * 2

    worker.serve(requests, replies, {"double": double})
    replies.seek(0)
    assert [read_frame(replies)[0] for _ in range(3)] == [{"result": 8}, {"result": "xyxy"}, {"end": True}]
    requests.seek(0)
    with pytest.raises(KeyError):
        worker.serve(requests, replies, {})
