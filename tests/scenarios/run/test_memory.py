"""The memory of `salvo run` hardly grows with the number of its runs."""

import shutil
import subprocess
import sys

import pytest

from tests.support.project import BIN, UserProject

AGENT = """
from salvo import AdapterResponse, BaseAdapter


class Agent(BaseAdapter):
    async def run(self, request):
        return AdapterResponse("done " * 200)
"""
SCENARIO = """
scenario: fast
adapter: agent:Agent
user_message: go
assertions:
  - {type: text, contains_all: [done]}
"""


MEASURE = """
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A small process starts the command: Linux counts what the process had that started it, and tests need much."""


def peak_megabytes(project: UserProject, runs: int) -> float:
    """Return the most memory that a command with so many runs needs."""
    shutil.rmtree(project.store)
    project.store.mkdir()
    command = [str(BIN / "salvo"), "run", "-q", "-n", str(runs), "-j", "50"]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], cwd=project.folder, check=True, capture_output=True, text=True
    )
    assert len(project.runs()) == runs
    return int(measured.stdout) / 1024


@pytest.mark.load
@pytest.mark.timeout(900)
def test_a_hundred_thousand_runs_need_less_than_150_megabytes(project: UserProject) -> None:
    """A run adds what lists show of it. So little is measured with fewer runs than that."""
    shutil.rmtree(project.folder / "scenarios")
    project.write("scenarios/fast.yaml", SCENARIO)
    project.write("agent.py", AGENT)
    few, many = peak_megabytes(project, 1_000), peak_megabytes(project, 11_000)
    print(f"\n{few:.0f} MB for 1,000 runs, {many:.0f} MB for 11,000: {(many - few) * 1024 / 10_000:.2f} kB per run")
    assert few + (many - few) / 10_000 * 99_000 < 150
