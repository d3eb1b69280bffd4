"""The memory of `salvo run` hardly grows with the number of its runs, wherever they are made."""

import shutil
import subprocess
import sys

import pytest

from tests.support.project import BIN, UserProject

AGENT = """
from salvo import AdapterResponse, BaseAdapter


class Agent(BaseAdapter):
    async def run(self, request):
        return AdapterResponse(f"done {request.seed} " * 200)
"""
SCENARIO = """
scenario: fast
adapter: agent:Agent
seed: 1
user_message: go
assertions:
  - {type: text, contains_all: [done]}
"""


MEASURE = """
import os, resource, subprocess, sys
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(command.pid, 0)
assert status == 0
print(usage.ru_maxrss)
"""
"""A small process starts the command: Linux counts what the process had that started it, and tests need much. The
memory of one process is returned: that of the command, not of its workers."""


def empty_store(project: UserProject) -> None:
    shutil.rmtree(project.store, ignore_errors=True)
    project.store.mkdir()


def peak_megabytes(project: UserProject, *arguments: str) -> float:
    """Return the most memory that a command needs."""
    command = [str(BIN / "salvo"), "run", "-q", "-j", "50", *arguments]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], cwd=project.folder, check=True, capture_output=True, text=True
    )
    return int(measured.stdout) / 1024


def check_growth(few: float, many: float) -> None:
    """Check what 2,000 and 20,000 runs need, and what follows from it for 100,000."""
    growth = (many - few) * 1024 / 18_000
    print(f"\n{few:.0f} MB for 2,000 runs, {many:.0f} MB for 20,000: {growth:.2f} kB per run")
    assert many < 1.15 * few
    assert many + growth * 80_000 / 1024 < 150


@pytest.fixture
def fast(project: UserProject) -> UserProject:
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/fast.yaml", SCENARIO)
    project.write("agent.py", AGENT)
    return project


@pytest.mark.load
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [(), ("--processes", "2")], ids=["in one process", "in worker processes"])
def test_ten_times_as_many_runs_need_hardly_more_memory(fast: UserProject, options: tuple[str, ...]) -> None:
    """Lists of numbers for percentiles, and compressed entries, are all that a run adds."""
    peaks = []
    for runs in (2_000, 20_000):
        empty_store(fast)
        peaks.append(peak_megabytes(fast, "-n", str(runs), *options))
        assert len(fast.runs()) == runs
    check_growth(*peaks)


@pytest.mark.load
@pytest.mark.timeout(1800)
def test_a_batch_that_is_resumed_and_compared_with_a_baseline_needs_hardly_more_memory(fast: UserProject) -> None:
    """The runs that were stored earlier are read one after the other, too."""
    assert fast.salvo("run", "-q", "-n", "20").exit_code == 0
    assert fast.salvo("baseline", "bless", "latest").exit_code == 0
    baseline = fast.folder / "baseline.json"
    shutil.copy(fast.store / "baseline.json", baseline)
    peaks = []
    for runs in (2_000, 20_000):
        empty_store(fast)
        assert fast.salvo("run", "-q", "-n", str(runs), "-j", "50").exit_code == 0
        for file in fast.runs()[::50]:
            file.unlink()
        peaks.append(peak_megabytes(fast, "--resume", "latest", "--against-baseline", str(baseline)))
        assert len(fast.runs()) == runs
    check_growth(*peaks)
