"""The memory of `salvo run` hardly grows with the number of its runs."""

import os
import shutil
import subprocess

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


def peak_megabytes(project: UserProject, runs: int) -> float:
    """Return the most memory that a command with so many runs needs."""
    shutil.rmtree(project.store)
    project.store.mkdir()
    process = subprocess.Popen(
        [str(BIN / "salvo"), "run", "-q", "-n", str(runs), "-j", "50"],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert len(project.runs()) == runs
    return used.ru_maxrss / 1024


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
