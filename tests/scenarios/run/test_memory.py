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


def peak_megabytes(project: UserProject, runs: int, *options: str) -> float:
    """Return the most memory that a command with so many runs needs."""
    shutil.rmtree(project.store)
    project.store.mkdir()
    command = [str(BIN / "salvo"), "run", "-q", "-n", str(runs), "-j", "50", *options]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], cwd=project.folder, check=True, capture_output=True, text=True
    )
    assert len(project.runs()) == runs
    return int(measured.stdout) / 1024


@pytest.mark.load
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [(), ("--processes", "2")], ids=["in one process", "in worker processes"])
def test_ten_times_as_many_runs_need_hardly_more_memory(project: UserProject, options: tuple[str, ...]) -> None:
    """Lists of numbers for percentiles, and compressed entries, are all that a run adds.

    What 100,000 runs need follows from it, and must be less than 150 MB.
    """
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/fast.yaml", SCENARIO)
    project.write("agent.py", AGENT)
    few, many = peak_megabytes(project, 2_000, *options), peak_megabytes(project, 20_000, *options)
    growth = (many - few) * 1024 / 18_000
    print(f"\n{few:.0f} MB for 2,000 runs, {many:.0f} MB for 20,000: {growth:.2f} kB per run")
    assert many < 1.15 * few
    assert many + growth * 80_000 / 1024 < 150
