"""Patterns that never end, in a stranger's scenario: the timeout and Ctrl-C hold, and no process is left behind."""

import json
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say, Use, UseTools, by_turn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ENDLESS_TEXT = "a" * 60 + "!"
TOOL = """
scenario: tool
adapter: openai
model: gpt-4o
runs: 1
timeout: {timeout}
user_message: go
tools:
  - name: find
    description: Finds.
    parameters: {{type: object, properties: {{name: {{type: string, pattern: "(a+)+$"}}}}}}
    response: ok
assertions: [{{type: latency_limit, max_seconds: 600}}]
"""
ASSERTION = """
scenario: assertion
adapter: function:mine.answer
user_message: go
runs: 1
timeout: 1
assertions: [{type: jmespath, path: final_output, operator: regex, value: "(a+)+$"}]
"""
CALLING = by_turn(UseTools(Use("find", {"name": ENDLESS_TEXT})), Say("done"))


def workers_of(parent: int) -> list[int]:
    """The processes that were started for this one, whether it still exists or not."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
            state = (file.parent / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if (
            state != "Z"
            and any(b"salvo.engine.sandbox.worker" in word for word in words)
            and str(parent).encode() in words
        ):
            found.append(int(file.parent.name))
    return found


def is_confined(pid: int) -> bool:
    """Return whether a worker has given up what it does not need."""
    try:
        limits = Path(f"/proc/{pid}/limits").read_text()
    except OSError:
        return False
    return re.search(r"^Max file size +0 ", limits, re.MULTILINE) is not None


def test_arguments_that_a_pattern_never_finishes_on_end_with_the_timeout(project: UserProject) -> None:
    project.write("scenarios/tool.yaml", TOOL.format(timeout=2))
    with LoopbackProvider(CALLING) as provider:
        project.reach(provider)
        process = project.process("run", "scenarios/tool.yaml")
        out, err = process.communicate(timeout=60)
    [run] = [json.loads(file.read_text()) for file in project.runs()]
    assert (run["outcome"], run["cause"], run["error"]) == ("failed", "timeout", "It took longer than 2 s."), out + err
    assert workers_of(process.pid) == []


def test_ctrl_c_ends_a_run_whose_arguments_are_being_checked(project: UserProject) -> None:
    project.write("scenarios/tool.yaml", TOOL.format(timeout=600))
    with LoopbackProvider(CALLING) as provider:
        project.reach(provider)
        process = project.process("run", "scenarios/tool.yaml")
        while not workers_of(process.pid):
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert workers_of(process.pid) == []


def test_an_assertion_whose_pattern_never_ends_leaves_no_process(project: UserProject) -> None:
    project.write("mine.py", f"def answer(request): return {ENDLESS_TEXT!r}\n")
    project.write("scenarios/assertion.yaml", ASSERTION)
    process = project.process("run", "scenarios/assertion.yaml")
    out, err = process.communicate(timeout=60)
    [run] = [json.loads(file.read_text()) for file in project.runs()]
    assert run["error"] == "final_output was stopped after 1 s, the scenario's timeout.", out + err
    assert workers_of(process.pid) == []


def test_a_killed_command_takes_its_workers_with_it(project: UserProject) -> None:
    project.write("mine.py", f"def answer(request): return {ENDLESS_TEXT!r}\n")
    project.write("scenarios/assertion.yaml", ASSERTION.replace("timeout: 1", "timeout: 600"))
    process = project.process("run", "scenarios/assertion.yaml")
    while not (workers := [pid for pid in workers_of(process.pid) if is_confined(pid)]):
        assert process.poll() is None, process.communicate()
    os.kill(workers[0], signal.SIGSTOP)  # so that it does not end by its own time limit
    try:
        process.kill()
        process.communicate()
        while workers_of(process.pid):
            pass  # the test's own limit ends this
    finally:
        with suppress(ProcessLookupError):
            os.kill(workers[0], signal.SIGKILL)


def test_a_pattern_that_takes_long_to_compile_is_refused_by_name(project: UserProject) -> None:
    pattern = "(?i)" + "[\\u0000-\\U0010ffff]" * 4_000
    project.write("mine.py", "def answer(request): return 1\n")
    project.write("scenarios/assertion.yaml", ASSERTION.replace("(a+)+$", pattern))
    refused = project.salvo("validate", "scenarios/assertion.yaml")
    assert refused.exit_code != 0
    assert "compiling it did not finish after 5 seconds" in " ".join(refused.output.split())


def test_a_path_that_takes_long_on_a_large_answer_cannot_be_judged_and_does_not_block(project: UserProject) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("mine.py", "def answer(request):\n    return '[' + '1,' * 300_000 + '1]'\n")
    path = "final_output" + " | [*]" * 150
    project.write(
        "scenarios/long.yaml",
        f"scenario: long\nadapter: function:mine.answer\nuser_message: go\nruns: 1\ntimeout: 1\n"
        f"assertions: [{{type: jmespath, name: slow, path: '{path}', operator: exists}}]\n",
    )
    result = project.salvo("run")
    assert result.exit_code == 3, result.output
    assert "was stopped after 1 s, the scenario's timeout" in project.everything_stored()
