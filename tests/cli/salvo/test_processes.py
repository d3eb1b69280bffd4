"""`salvo run --processes`: the runs are made in worker processes, and everything else is as in one process."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.salvo.test_shards import SUITE, by_seed, content
from tests.support.mcp import STDIO_SERVER
from tests.support.processes import command_line, descendants, is_running, wait_until
from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say, Use, UseTools, by_turn
from tests.support.wires import OPENAI_KEY

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")

AGENT = """
import asyncio, os, pathlib

from salvo import AdapterResponse, BaseAdapter


class Agent(BaseAdapter):
    async def run(self, request):
        with open("starts", "a") as starts:
            starts.write(f"{os.getpid()} {self.context.seed}\\n")
        while not pathlib.Path("go").exists():
            await asyncio.sleep(0.01)
        BODY
        return AdapterResponse("done")
"""
SCENARIO = """
scenario: slow
adapter: agent:Agent
runs: 6
seed: 1
user_message: go
assertions:
  - {type: text, contains_all: [done]}
"""


@pytest.fixture
def suite(project: UserProject) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/greet.yaml", SUITE)
    return project


@pytest.fixture
def slow(project: UserProject) -> UserProject:
    """A project whose agent waits for the file `go`, and writes where and with which seed it was started."""
    return with_agent(project, "pass")


def with_agent(project: UserProject, body: str) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/slow.yaml", SCENARIO)
    project.write("agent.py", AGENT.replace("BODY", body))
    return project


def starts(project: UserProject) -> list[tuple[int, int]]:
    """Return the process and the seed of every run that was started."""
    file = project.folder / "starts"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(pid), int(seed)) for pid, seed in (line.split() for line in lines)]


def numbers(project: UserProject) -> list[int]:
    return [json.loads(file.read_text())["number"] for file in project.runs()]


def test_the_stored_batch_is_that_of_one_process(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        spread = suite.salvo("run", "--processes", "2", "--batch", "nightly", "--record", "-j", "3")
        stored = content(suite.store)
        shutil.rmtree(suite.store)
        suite.store.mkdir()
        alone = suite.salvo("run", "--batch", "nightly", "--record", "-j", "3")
    assert spread.exit_code == alone.exit_code == 0, spread.output
    assert len(provider.requests) == 28
    for name, lines in content(suite.store).items():
        assert stored.pop(name) == lines, name
    assert stored == {}
    assert OPENAI_KEY not in suite.everything_stored()
    assert suite.salvo("replay", "latest").exit_code == 0


@pytest.mark.load
def test_runs_are_made_in_all_processes_and_none_in_that_of_the_command(slow: UserProject) -> None:
    slow.write("go", "")
    process = slow.process("run", "--processes", "2")
    process.communicate(timeout=60)
    workers = {pid for pid, _ in starts(slow)}
    assert len(workers) == 2
    assert process.pid not in workers
    assert not any(map(is_running, workers))
    assert sorted(numbers(slow)) == [1, 2, 3, 4, 5, 6]


def test_no_run_is_started_after_the_first_failure_or_beyond_the_budget(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        stopped = suite.salvo("run", "--processes", "2", "-x", "-j", "1", "-k", "kind")
        assert len(provider.requests) == 3  # the third fails
        budget = suite.salvo("run", "--processes", "2", "--max-cost", "0.0000001", "-j", "2")
        assert len(provider.requests) == 5  # those that run at once
    assert stopped.exit_code == 1
    assert budget.exit_code == 3
    assert "the budget of $0.0000001 is spent" in budget.stdout


@pytest.mark.load
def test_rounds_go_on_until_the_verdict_is_sure(suite: UserProject) -> None:
    options = ("--until-sure", "--max-runs", "40", "--min-pass-rate", "0.75", "-k", "kind")
    with LoopbackProvider(lambda _: Say("hello")) as provider:
        suite.reach(provider)
        spread = suite.salvo("run", "--processes", "2", *options, "--json")
        alone = suite.salvo("run", *options, "--json")
    assert spread.exit_code == alone.exit_code == 0, spread.output
    runs = [json.loads(ran.stdout)["batches"][0]["runs"] for ran in (spread, alone)]
    assert runs[0] == runs[1] > 10


def test_a_fault_that_every_run_would_meet_stops_all_workers(suite: UserProject) -> None:
    with LoopbackProvider(lambda _: Fault.unauthorized()) as provider:
        suite.reach(provider)
        ran = suite.salvo("run", "--processes", "2", "-j", "2")
    assert ran.exit_code == 3
    assert len(provider.requests) <= 4
    assert "every further run would fail in the same way" in ran.stdout


@pytest.mark.load
def test_a_cached_reply_is_used_again_in_another_process(suite: UserProject) -> None:
    with LoopbackProvider(by_seed) as provider:
        suite.reach(provider)
        suite.salvo("run", "--processes", "2", "--cache")
        suite.salvo("run", "--processes", "2", "--cache")
    assert len(provider.requests) == 14


@pytest.mark.load
def test_mcp_servers_run_in_the_workers_and_the_batch_has_one_list(project: UserProject) -> None:
    shutil.rmtree(project.folder / "scenarios")
    command = [*STDIO_SERVER, "--log", str(project.folder / "servers")]
    scenario: dict[str, Any] = {
        "scenario": "refund",
        "adapter": "openai",
        "model": "gpt-5.4-mini",
        "runs": 4,
        "user_message": "Refund order A-1001.",
        "mcp_servers": {"shop": {"command": command, "scope": "batch"}},
        "assertions": [{"type": "tool_sequence", "expected": ["find_order"]}],
    }
    project.write("scenarios/refund.yaml", yaml.safe_dump(scenario))
    with LoopbackProvider(by_turn(UseTools(Use("find_order", {"order_id": "A-1001"})), Say("Done."))) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--processes", "2", "-j", "2")
    assert ran.exit_code == 0, ran.output
    [file] = (project.store / "batches").glob("*.json")
    assert sorted(json.loads(file.read_text())["mcp_servers"]["shop"]["tools"]) == [
        "echo",
        "find_order",
        "issue_refund",
    ]
    servers = [int(line) for line in (project.folder / "servers").read_text().split()]
    assert len(servers) == 2
    assert not any(map(is_running, servers))


@pytest.mark.load
def test_what_a_killed_worker_was_making_is_made_again_and_named(slow: UserProject) -> None:
    process = slow.process("run", "--processes", "2", "-j", "4", "-q")
    wait_until(lambda: len(starts(slow)) == 4)
    victim = starts(slow)[0][0]
    lost = sorted(seed for pid, seed in starts(slow) if pid == victim)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len(starts(slow)) == 6)
    slow.write("go", "")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"process {victim} was killed by signal 9" in errors
    assert sorted(int(number) for number in re.findall(r"-(\d{4})\b", errors)) == lost
    assert sorted(numbers(slow)) == [1, 2, 3, 4, 5, 6]
    assert sorted(seed for _, seed in starts(slow)) == sorted([1, 2, 3, 4, 5, 6, *lost])


@pytest.mark.load
def test_a_run_that_ends_every_worker_is_given_up(project: UserProject) -> None:
    with_agent(project, "os._exit(3) if self.context.seed == 2 else None")
    project.write("go", "")
    process = project.process("run", "--processes", "1", "-j", "1", "-q")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "3 workers ended while making this run, the last because" in output
    assert "ended with status 3" in output
    assert numbers(project) == [1, 3, 4, 5, 6]


@pytest.mark.load
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_workers_and_keeps_what_finished(slow: UserProject, number: int) -> None:
    process = slow.process("run", "--processes", "2", "-j", "2", "-q")
    wait_until(lambda: len(starts(slow)) == 2)
    family = descendants(process.pid)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(map(is_running, family))
    slow.write("go", "")
    assert slow.salvo("run", "--resume", "latest").exit_code == 0
    assert sorted(numbers(slow)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.load
def test_workers_end_with_a_command_that_is_killed(slow: UserProject) -> None:
    process = slow.process("run", "--processes", "2", "-q")
    wait_until(lambda: len(starts(slow)) == 6)
    family = descendants(process.pid)
    assert sum("worker_process" in command_line(pid) for pid in family) == 2
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not any(map(is_running, family)), 10)


@pytest.mark.load
def test_what_a_worker_cannot_read_is_said_as_in_one_process(slow: UserProject) -> None:
    slow.write("agent.py", (slow.folder / "agent.py").read_text() + "\nimport os\nassert 'WORKER' not in os.environ\n")
    slow.write(
        "sitecustomize.py",
        "import os, sys\nif 'worker_process' in ' '.join(sys.orig_argv): os.environ['WORKER'] = '1'\n",
    )
    command = ["run", "--processes", "2", "-q"]
    slow.environ = {"PYTHONPATH": str(slow.folder)}
    process: subprocess.Popen[str] = slow.process(*command)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "AssertionError" in errors
    assert "Traceback" not in errors
    assert starts(slow) == []
