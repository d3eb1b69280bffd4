"""Runs that were in flight when a worker or the command ended: every report names them, and that their cost is unknown."""

import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from salvo.engine.runtime.clock import SystemClock
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.store import RunStore
from tests.cli.salvo.test_processes import starts, with_agent
from tests.support.processes import wait_until
from tests.support.project import UserProject

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")

MEANING = "calls that they had made may be paid for, and are not in the cost"


@pytest.fixture
def slow(project: UserProject) -> UserProject:
    """A project whose agent waits for the file `go`, and writes where and with which seed it was started."""
    return with_agent(project, "pass")


def kill_command(project: UserProject, *arguments: str, count: int) -> None:
    """Start a command, and kill it when so many more runs have begun."""
    before = len(starts(project))
    process = project.process("run", *arguments)
    wait_until(lambda: len(starts(project)) == before + count)
    if not before:
        assert "in flight" not in project.salvo("report", "latest").stdout, "it is still making them"
    process.kill()
    process.communicate(timeout=60)


def summary(project: UserProject, *arguments: str) -> Any:
    [batch] = json.loads(project.salvo(*(arguments or ("report", "latest")), "--json").stdout)["batches"]
    return batch


def lost(project: UserProject) -> Any:
    return summary(project)["lost"]


def reports(project: UserProject, *command: str) -> Sequence[str]:
    """Return what a command prints, and the files that it writes."""
    files = [project.folder / f"report.{suffix}" for suffix in ("md", "xml", "html", "json")]
    ran = project.salvo(*command, *(f"--output={file}" for file in files))
    return [ran.stdout, *(file.read_text() for file in files)]


def test_runs_that_were_in_flight_when_the_command_was_killed_are_in_every_report(slow: UserProject) -> None:
    kill_command(slow, "-j", "2", count=2)
    sentence = f"2 runs when a command ended (runs 1-2): {MEANING}"
    assert sentence in slow.salvo("report", "latest").stdout
    assert sentence in slow.salvo("report", "latest", "--html", "-").stdout
    [batch_file] = (slow.store / "batches").glob("*.json")
    run_ids = [f"{batch_file.stem}-{number:04d}" for number in (1, 2)]
    expected = {"at_worker_ends": 0, "at_command_ends": 2, "run_ids": run_ids}
    assert lost(slow) == expected
    assert summary(slow)["cost"]["total"] is None
    slow.write("go", "")
    for text in reports(slow, "run", "--resume", "latest"):
        assert sentence in text or json.loads(text)["batches"][0]["lost"] == expected
    assert lost(slow) == expected, "it is still so after they were made again"
    assert not list((slow.store / "batches" / ".started").iterdir())


def test_a_run_that_was_in_flight_at_two_ends_is_named_once(slow: UserProject) -> None:
    kill_command(slow, "-j", "1", count=1)
    kill_command(slow, "-j", "2", "--resume", "latest", count=2)
    assert lost(slow)["at_command_ends"] == 2
    slow.write("go", "")
    assert slow.salvo("run", "--resume", "latest").exit_code == 0
    assert [run_id[-4:] for run_id in lost(slow)["run_ids"]] == ["0001", "0002"]


def test_the_dashboard_names_them_as_soon_as_the_command_has_ended(slow: UserProject) -> None:
    catalog = BatchCatalog(RunStore(slow.store), SystemClock())
    process = slow.process("run", "-j", "2")
    wait_until(lambda: len(starts(slow)) == 2)
    [batch_id] = catalog.store.newest_batches(1)
    assert catalog.get(batch_id).summary.lost is None
    process.kill()
    process.communicate(timeout=60)
    named = catalog.get(batch_id).summary.lost
    assert named is not None
    assert named.at_command_ends == 2


def test_a_batch_that_nothing_interrupted_names_none(slow: UserProject) -> None:
    slow.write("go", "")
    for text in reports(slow, "run"):
        assert "in flight" not in text.lower()
        assert "in_flight" not in text
    assert lost(slow) is None


def test_joined_stores_name_the_lost_runs_of_all_of_them(slow: UserProject) -> None:
    kill_command(slow, "--shard", "2/2", "--batch", "nightly", "-j", "2", count=2)
    slow.write("go", "")
    shutil.move(slow.store, slow.folder / "second")
    slow.store.mkdir()
    assert slow.salvo("run", "--shard", "1/2", "--batch", "nightly").exit_code in {0, 3}
    merged = slow.salvo("merge", str(slow.folder / "second"))
    assert f"2 runs when a command ended (runs 2, 4): {MEANING}" in merged.stdout
    assert slow.salvo("merge", str(slow.folder / "second")).stdout.count("in flight") == 1
    assert lost(slow)["at_command_ends"] == 2


def test_a_damaged_note_names_nothing(slow: UserProject) -> None:
    slow.write("go", "")
    slow.salvo("run")
    [batch_file] = (slow.store / "batches").glob("*.json")
    notes = slow.store / "batches" / ".started"
    notes.mkdir(exist_ok=True)
    for number, content in enumerate(
        [b"\xff\n-\n", b"process x\n3\n", b"process 99999999999999999999 y\n" + b"9" * 5000]
    ):
        (notes / f"{batch_file.stem}.{number}").write_bytes(content)
    (notes / f"{batch_file.stem}.link").symlink_to(slow.folder / "agent.py")
    assert lost(slow) is None


@pytest.mark.load
def test_runs_that_were_in_flight_when_a_worker_ended_are_in_every_report(slow: UserProject) -> None:
    files = [slow.folder / f"report.{suffix}" for suffix in ("md", "xml", "html")]
    outputs = [f"--output={file}" for file in files]
    process = slow.process("run", "--processes", "2", "-j", "4", *outputs)
    wait_until(lambda: len(starts(slow)) == 4)
    victim = starts(slow)[0][0]
    numbers = sorted(seed for pid, seed in starts(slow) if pid == victim)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len(starts(slow)) == 6)
    slow.write("go", "")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    for text in [output, *(file.read_text() for file in files), slow.salvo("report", "latest").stdout]:
        assert "2 runs when a worker ended (run" in text
        assert MEANING in text
    assert [int(run_id[-4:]) for run_id in lost(slow)["run_ids"]] == numbers
    assert lost(slow)["at_worker_ends"] == 2


@pytest.mark.load
def test_a_run_that_was_given_up_is_not_said_to_be_in_flight_at_the_end_of_the_command(project: UserProject) -> None:
    with_agent(project, "os._exit(3) if self.context.seed == 2 else None")
    project.write("go", "")
    process = project.process("run", "--processes", "1", "-j", "1", "-q")
    process.communicate(timeout=60)
    batch = lost(project)
    assert (batch["at_worker_ends"], batch["at_command_ends"]) == (1, 0)
