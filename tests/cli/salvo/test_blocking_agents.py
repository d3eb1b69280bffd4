"""`salvo run` with agents that block, or go on although they are cancelled: the timeout holds, for them alone."""

import json
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from click.testing import Result

from tests.support.project import UserProject

SCENARIO = """
scenario: {name}
adapter: {name}:Agent
user_message: Go.
timeout: {timeout}
runs: {runs}
assertions:
  - {{type: jmespath, path: final_output, operator: eq, value: done}}
"""
AGENT = """
import asyncio, time
from salvo import AdapterResponse, BaseAdapter

class Agent(BaseAdapter):
    {kind}def run(self, request):
{body}
        return AdapterResponse("done")
"""


def write(project: UserProject, name: str, body: str, *, timeout: float, runs: int = 1, kind: str = "async ") -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    project.write(f"{name}.py", AGENT.format(kind=kind, body=lines))
    project.write(f"scenarios/{name}.yaml", SCENARIO.format(name=name, timeout=timeout, runs=runs))


def outcomes_of(ran: Result) -> dict[str, list[tuple[str, str | None]]]:
    batches: list[dict[str, Any]] = json.loads(ran.stdout)["batches"]
    return {
        batch["scenario_id"]: [(result["outcome"], result["cause"]) for result in batch["results"]] for batch in batches
    }


def test_the_timeout_ends_an_agent_that_blocks_the_event_loop_and_names_the_place(project: UserProject) -> None:
    write(project, "sleeper", "time.sleep(30)", timeout=2)
    started = time.monotonic()
    ran = project.salvo("run")
    assert time.monotonic() - started < 25, "it is interrupted"
    stored = json.loads(project.runs()[0].read_text())
    assert (ran.exit_code, stored["outcome"], stored["cause"]) == (1, "failed", "timeout")
    assert re.match(
        r"It took longer than 2 s\. It blocked the event loop for \d+ s at sleeper\.py, line 6: ", stored["error"]
    )
    assert re.search(r"The event loop was blocked for \d+ s at sleeper\.py, line 6\.", ran.stderr)
    assert "1 run failed: the agent timed out: It took longer than 2 s." in ran.stdout


FUNCTION = "import time\nasync def agent(request):\n    time.sleep(30)\n    return 'done'\n"
RESPONDING = (
    "import time\nfrom salvo import BaseAdapter\n"
    "class Agent(BaseAdapter):\n    {kind}def respond(self, message):\n        time.sleep(30)\n        return 'done'\n"
)


@pytest.mark.parametrize(
    "adapter, code",
    [
        pytest.param("function:sleeper.agent", FUNCTION, id="an async function"),
        pytest.param("sleeper:Agent", RESPONDING.format(kind="async "), id="an async respond"),
        pytest.param("sleeper:Agent", RESPONDING.format(kind=""), id="a sync respond"),
    ],
)
@pytest.mark.load
def test_the_timeout_holds_however_the_agent_is_called(project: UserProject, adapter: str, code: str) -> None:
    write(project, "sleeper", "pass", timeout=2)
    project.write("sleeper.py", code)
    scenario = project.folder / "scenarios/sleeper.yaml"
    scenario.write_text(re.sub("adapter: .*", f"adapter: {adapter}", scenario.read_text()))
    project.salvo("run")
    stored = json.loads(project.runs()[0].read_text())
    assert (stored["outcome"], stored["cause"]) == ("failed", "timeout")


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "await asyncio.gather(self.nap(), self.nap())",
        "while True:\n    try: time.sleep(30)\n    except Exception: pass",
    ],
    ids=["a loop", "tasks of its own", "except Exception"],
)
@pytest.mark.load
def test_whatever_blocks_is_interrupted(project: UserProject, body: str) -> None:
    write(project, "busy", body, timeout=1.5)
    agent = project.folder / "busy.py"
    agent.write_text(agent.read_text() + "\n    async def nap(self):\n        time.sleep(30)\n")
    assert outcomes_of(project.salvo("run", "--json")) == {"busy": [("failed", "timeout")]}


@pytest.mark.load
def test_the_time_in_which_another_run_blocks_is_not_counted(project: UserProject) -> None:
    write(project, "patient", "await asyncio.sleep(1)", timeout=4.5, runs=3)
    write(project, "sleeper", "await asyncio.sleep(0.3)\ntime.sleep(30)", timeout=5)
    ran = project.salvo("run", "--json")
    assert outcomes_of(ran) == {"patient": [("passed", None)] * 3, "sleeper": [("failed", "timeout")]}
    batches = {batch["scenario_id"]: batch["results"] for batch in json.loads(ran.stdout)["batches"]}
    assert all(result["metrics"]["latency"] < 4.5 for result in batches["patient"])
    assert batches["sleeper"][0]["metrics"]["latency"] >= 5


def test_a_run_answers_only_for_the_time_in_which_it_blocks_itself(project: UserProject) -> None:
    write(project, "short", "time.sleep(0.5)\nawait asyncio.sleep(0.1)", timeout=3.5, runs=8)
    ran = project.salvo("run", "--json")
    assert outcomes_of(ran) == {"short": [("passed", None)] * 8}
    assert "The event loop was blocked for" in ran.stderr


def test_a_block_that_ends_in_time_is_named_and_judged(project: UserProject) -> None:
    write(project, "napping", "time.sleep(2)", timeout=30)
    ran = project.salvo("run")
    assert ran.exit_code == 0
    assert "s at napping.py, line 6. Other runs had to wait; this time is not counted as theirs." in ran.stderr


def test_an_agent_that_fails_when_its_time_is_over_leaves_no_traceback(project: UserProject) -> None:
    body = 'try:\n    await asyncio.sleep(30)\nexcept asyncio.CancelledError:\n    raise ValueError("closed") from None'
    write(project, "failing", body, timeout=0.3)
    with project.process("run") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert json.loads(project.runs()[0].read_text())["cause"] == "timeout"
    assert "Traceback" not in errors
    assert "never retrieved" not in errors


def test_a_late_return_is_a_timeout_even_if_nothing_could_interrupt_it(project: UserProject) -> None:
    write(project, "late", "time.sleep(0.7)", timeout=0.5)
    assert outcomes_of(project.salvo("run", "--json")) == {"late": [("failed", "timeout")]}


@pytest.mark.parametrize(
    "body",
    [
        "try: await asyncio.sleep(60)\nexcept asyncio.CancelledError: pass",
        "while True:\n    try: await asyncio.sleep(60)\n    except asyncio.CancelledError: pass",
        "while True:\n    try: await asyncio.sleep(60)\n    except BaseException: pass",
        "self.task = asyncio.create_task(self.forever())\nawait asyncio.sleep(60)",
    ],
    ids=["once", "always", "everything", "a task of its own"],
)
@pytest.mark.load
def test_an_agent_that_swallows_its_cancellation_does_not_survive_its_timeout(project: UserProject, body: str) -> None:
    write(project, "stubborn", body, timeout=0.5, runs=2)
    agent = project.folder / "stubborn.py"
    forever = "while True:\n            try: await asyncio.sleep(60)\n            except BaseException: pass"
    agent.write_text(agent.read_text() + f"\n    async def forever(self):\n        {forever}\n")
    ran = project.process("run", "--json")
    out, err = ran.communicate(timeout=60)
    assert ran.returncode == 1, err
    results = json.loads(out)["batches"][0]["results"]
    assert [(result["outcome"], result["cause"]) for result in results] == [("failed", "timeout")] * 2


QUICKLY = """
import sys
from salvo.engine.runtime import event_loop
event_loop.LOST_SECONDS = 1.5
from salvo.cli.salvo import salvo
salvo(sys.argv[1:])
"""
"""The command, with a shorter wait before a blocked loop is given up."""
CATCHES_ALL = "while True:\n    try: time.sleep(60)\n    except BaseException: pass"
LOCKED_DATABASE = """
import sqlite3
first, second = (sqlite3.connect("x.db", timeout=60, isolation_level=None) for _ in range(2))
first.execute("BEGIN EXCLUSIVE")
second.execute("BEGIN EXCLUSIVE")
""".strip()
FIRST_RUNS_PASS = "import os\nif request.seed < 3 or os.path.exists('quiet'):\n    return AdapterResponse('done')\nawait asyncio.sleep(0.1)\n"


def run_quickly(project: UserProject, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", QUICKLY, *arguments]
    return subprocess.run(command, check=False, cwd=project.folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("body", [CATCHES_ALL, LOCKED_DATABASE], ids=["catches everything", "waits in C"])
@pytest.mark.load
def test_the_command_ends_if_the_loop_stays_blocked_after_the_timeout(project: UserProject, body: str) -> None:
    write(project, "immortal", FIRST_RUNS_PASS + body, timeout=1, runs=6)
    ran = run_quickly(project, "run", "-j", "2", "--seed", "1", "--record", "-o", "report.xml")
    assert ran.returncode == 1
    assert re.search(
        r"The event loop has been blocked for \d s at immortal\.py, line \d+\. The code there could not be interrupted, so "
        r"the command ends here\.",
        ran.stderr,
    )
    stored = {result["number"]: result for result in (json.loads(file.read_text()) for file in project.runs())}
    [blocker] = [number for number in stored if number > 2]
    outcomes = {number: (result["outcome"], result["cause"]) for number, result in stored.items()}
    assert outcomes == {1: ("passed", None), 2: ("passed", None), blocker: ("failed", "timeout")}
    assert re.match(
        r"It took longer than 1 s\. It blocked the event loop for \d s at immortal\.py, line \d+:",
        stored[blocker]["error"],
    )
    assert "Of 6 runs: 2 not run, 1 interrupted." in ran.stdout
    assert re.search(r"× interrupted: another run blocked the event loop at immortal\.py, line \d+, and", ran.stdout)
    assert 'failures="1"' in (project.folder / "report.xml").read_text()
    project.write("quiet", "")
    resumed = project.salvo("run", "--resume", "latest", "--json")
    assert [outcome for outcome, _ in outcomes_of(resumed)["immortal"]].count("passed") == 5


@pytest.mark.load
def test_a_worker_process_that_stays_blocked_is_replaced_and_other_runs_go_on(project: UserProject) -> None:
    write(project, "patient", "await asyncio.sleep(0.5)", timeout=20, runs=2)
    write(project, "immortal", CATCHES_ALL, timeout=0.5, runs=3)
    agent = project.folder / "immortal.py"
    soon = "from salvo.engine.runtime import event_loop\nevent_loop.LOST_SECONDS = 0.2\n"
    agent.write_text(agent.read_text() + soon)  # the agent's code is imported by the workers alone
    ran = project.salvo("run", "--processes", "1", "--json")
    assert ran.exit_code == 1, ran.output
    assert outcomes_of(ran) == {"patient": [("passed", None)] * 2, "immortal": [("failed", "timeout")] * 3}
    batches = {batch["scenario_id"]: batch["results"] for batch in json.loads(ran.stdout)["batches"]}
    for result in batches["immortal"]:
        assert re.match(
            r"It took longer than 0\.5 s\. It blocked the event loop for \d s at immortal\.py, line \d+:",
            result["error"],
        )
    reason = r"A worker ended: a run blocked its event loop for \d s at immortal\.py, line \d+, and could not be interrupted\."
    assert len(re.findall(reason, ran.stderr)) == 3


def test_a_replay_ends_if_the_loop_stays_blocked(project: UserProject) -> None:
    call = "await self.context.toolbox.call('search_flights', {'origin': 'A', 'destination': 'B'})\n"
    write(project, "changed", call, timeout=1)
    scenario = project.folder / "scenarios/changed.yaml"
    scenario.write_text(scenario.read_text() + "tools: [search_flights]\n")
    assert project.salvo("run", "--record").exit_code == 0
    code = project.folder / "changed.py"
    code.write_text(code.read_text().replace("return", CATCHES_ALL.replace("\n", "\n        ") + "\n        return"))
    ran = run_quickly(project, "replay", "latest")
    assert (ran.returncode, ran.stdout) == (3, ""), ran.stderr
    assert "so the replay ends here." in ran.stderr


def test_an_agent_that_blocks_again_and_again_does_not_survive_its_timeout(project: UserProject) -> None:
    body = (
        "while True:\n    try:\n        time.sleep(60)\n        await asyncio.sleep(0)\n    except BaseException:\n"
        "        try: await asyncio.sleep(0.001)\n        except BaseException: pass"
    )
    write(project, "sneaky", body, timeout=0.5)
    started = time.monotonic()
    assert outcomes_of(project.salvo("run", "--json")) == {"sneaky": [("failed", "timeout")]}
    assert time.monotonic() - started < 30, "it slept for a minute"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.load
def test_a_second_signal_ends_a_run_that_blocks_and_catches_everything(
    project: UserProject, number: signal.Signals
) -> None:
    body = "open('started', 'w').close()\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass"
    write(project, "immortal", body, timeout=60)
    process = project.process("run")
    try:
        while not (project.folder / "started").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(number)
        process.send_signal(number)
        time.sleep(1.5)
        assert process.poll() is None, "the loop gets time to react"
        process.send_signal(number)
        assert process.wait(timeout=20) == -number
    finally:
        process.kill()
        process.communicate()


def test_an_agent_may_clean_up_when_it_is_cancelled(project: UserProject) -> None:
    body = "try: await asyncio.sleep(60)\nfinally:\n    await asyncio.sleep(0.1)\n    open('cleaned', 'w').close()"
    write(project, "tidy", body, timeout=0.5)
    project.salvo("run")
    assert (project.folder / "cleaned").exists()


def test_a_sync_agent_runs_in_a_thread_and_is_abandoned(project: UserProject) -> None:
    write(project, "plain", "time.sleep(0.5)", timeout=5, runs=4, kind="")
    write(project, "endless", "time.sleep(60)", timeout=0.5, kind="")
    ran = project.salvo("run", "--json")
    assert outcomes_of(ran) == {"plain": [("passed", None)] * 4, "endless": [("failed", "timeout")]}
    assert "blocked" not in ran.stderr


def test_an_agent_that_has_ended_sends_nothing_more(project: UserProject) -> None:
    body = "self.task = asyncio.create_task(self.later())\nawait asyncio.sleep(60)"
    write(project, "zombie", body, timeout=0.5)
    agent = project.folder / "zombie.py"
    agent.write_text(
        agent.read_text()
        + """
    async def later(self):
        try:
            await asyncio.sleep(0.7)
            await self.context.chat_model("openai/gpt-5.4-mini").complete(None)
        except Exception as error:
            pathlib.Path("refused").write_text(str(error))
"""
    )
    write(project, "slow", "await asyncio.sleep(2)", timeout=5)
    agent.write_text(agent.read_text().replace(".complete(None)", ".complete(ChatRequest((UserMessage('hi'),)))"))
    agent.write_text(
        "import pathlib\nfrom salvo.engine.chat.base import ChatRequest, UserMessage\n" + agent.read_text()
    )
    project.salvo("run")
    assert (project.folder / "refused").read_text() == "The run has ended, so nothing is sent for it."
