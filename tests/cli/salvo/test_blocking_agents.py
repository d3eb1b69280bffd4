"""`salvo run` with agents that block, or go on although they are cancelled: the timeout holds, for them alone."""

import json
import re
import signal
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


def outcomes(ran: Result) -> dict[str, list[tuple[str, str | None]]]:
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


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "await asyncio.gather(self.nap(), self.nap())",
        "while True:\n    try: time.sleep(30)\n    except Exception: pass",
    ],
    ids=["a loop", "tasks of its own", "except Exception"],
)
def test_whatever_blocks_is_interrupted(project: UserProject, body: str) -> None:
    write(project, "busy", body, timeout=1.5)
    agent = project.folder / "busy.py"
    agent.write_text(agent.read_text() + "\n    async def nap(self):\n        time.sleep(30)\n")
    assert outcomes(project.salvo("run", "--json")) == {"busy": [("failed", "timeout")]}


def test_the_time_in_which_another_run_blocks_is_not_counted(project: UserProject) -> None:
    write(project, "patient", "await asyncio.sleep(1)", timeout=3, runs=3)
    write(project, "sleeper", "await asyncio.sleep(0.3)\ntime.sleep(30)", timeout=5)
    ran = project.salvo("run", "--json")
    assert outcomes(ran) == {"patient": [("passed", None)] * 3, "sleeper": [("failed", "timeout")]}
    batches = {batch["scenario_id"]: batch["results"] for batch in json.loads(ran.stdout)["batches"]}
    assert all(result["metrics"]["latency"] < 3 for result in batches["patient"])
    assert batches["sleeper"][0]["metrics"]["latency"] >= 5


def test_a_run_answers_only_for_the_time_in_which_it_blocks_itself(project: UserProject) -> None:
    write(project, "short", "time.sleep(0.5)\nawait asyncio.sleep(0.1)", timeout=1.5, runs=8)
    ran = project.salvo("run", "--json")
    assert outcomes(ran) == {"short": [("passed", None)] * 8}
    assert "The event loop was blocked for" in ran.stderr


def test_a_block_that_ends_in_time_is_named_and_judged(project: UserProject) -> None:
    write(project, "napping", "time.sleep(2)", timeout=30)
    ran = project.salvo("run")
    assert ran.exit_code == 0
    assert "s at napping.py, line 6. Other runs had to wait; this time is not counted as theirs." in ran.stderr


def test_a_late_return_is_a_timeout_even_if_nothing_could_interrupt_it(project: UserProject) -> None:
    write(project, "late", "time.sleep(0.7)", timeout=0.5)
    assert outcomes(project.salvo("run", "--json")) == {"late": [("failed", "timeout")]}


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
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
    assert outcomes(ran) == {"plain": [("passed", None)] * 4, "endless": [("failed", "timeout")]}
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
