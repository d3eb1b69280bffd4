"""Stores as earlier versions wrote them are read, replayed and continued."""

import json
import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.store import RunStore
from tests.support.clock import HeldClock
from tests.support.project import UserProject

SAMPLES = Path(__file__).parent / "samples"
ECHO, REFUND = "1m7jnvf2bz4hra20", "1m7jnvf2csae7a9k"


@pytest.fixture
def sampled(project: UserProject) -> UserProject:
    """The store of 2026-11-16: blank lines in the index, and its process was killed while it wrote the last run."""
    shutil.rmtree(project.folder / "scenarios", ignore_errors=True)
    shutil.copytree(SAMPLES / "2026-11-16", project.folder, dirs_exist_ok=True)
    (project.folder / "store").rename(project.folder / ".salvo")
    return project


@pytest.fixture
def store(sampled: UserProject) -> RunStore:
    return RunStore(sampled.folder / ".salvo")


def test_runs_are_listed(store: RunStore) -> None:
    entries = store.last(10)
    assert [(entry.run_id, entry.outcome) for entry in entries] == [
        (f"{REFUND}-0001", "passed"),
        (f"{ECHO}-0001", "passed"),
        (f"{ECHO}-0002", "failed"),
        (f"{ECHO}-0003", "passed"),
    ]
    assert entries.skipped == 0
    rows = list(BatchCatalog(store, HeldClock()).rows())
    assert [row and (row.batch_id, row.runs, row.completed, row.passed) for row in rows] == [
        (REFUND, 1, 1, 1),
        (ECHO, 4, 3, 2),
    ]


def test_the_report_is_as_it_was(sampled: UserProject) -> None:
    shown = sampled.salvo("report")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout == snapshot("""\
BATCH             SCENARIO  MODEL         WHEN              RUNS  PASS-RATE  95%          SCORE  ERRORS  COST      VERDICT
1m7jnvf2csae7a9k  refund    gpt-5.4-mini  2026-11-16 17:18  1/1   100%       2% to 100%   1.00           $0.00017  passed
1m7jnvf2bz4hra20  echo      custom        2026-11-16 17:18  3/4   67%        9% to 99.2%  0.67           unknown   failed
""")
    assert sampled.salvo("report", "--html", "-").stdout.count("<h1>") == 1


@pytest.mark.parametrize(
    "run_id, says",
    [(f"{REFUND}-0001", "Identical: "), (f"{ECHO}-0002", "Reconstructed from what was stored"), ("latest", "run 3")],
)
def test_recordings_are_replayed(sampled: UserProject, run_id: str, says: str) -> None:
    replayed = sampled.salvo("replay", run_id)
    assert replayed.exit_code == 0, replayed.output
    assert says in replayed.stdout


def test_a_killed_batch_is_resumed_and_its_torn_line_is_repaired(sampled: UserProject, store: RunStore) -> None:
    resumed = sampled.salvo("run", "--resume", ECHO)
    assert resumed.exit_code == 1, resumed.output
    lines = [json.loads(line) for line in (store.folder / "history.jsonl").read_bytes().splitlines() if line]
    assert [line["run_id"] for line in lines if line["batch_id"] == ECHO] == [f"{ECHO}-000{n}" for n in (1, 2, 3, 4)]
    assert len(store.last(10)) == 5


def test_the_index_is_made_again_without_blank_lines(sampled: UserProject, store: RunStore) -> None:
    assert sampled.salvo("report", "--rebuild").stderr == "Index rebuilt: 4 runs.\n"
    with (store.folder / "history.jsonl").open() as lines:
        assert [json.loads(line)["number"] for line in lines] == [1, 2, 3, 1]
