"""`byop purge`, on a real database."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.documents.matrix import DocumentBatch
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.stored_evaluations import NAMES, Byop, begin_evaluation, finish_evaluation

LONG_AGO = datetime(2001, 2, 3, tzinfo=UTC)
RULE = ("purge", "--older-than", "30")


@pytest.fixture
def old(folder: Path) -> Iterator[EvaluationStore]:
    """A store with a report of long ago that is a baseline, and one of today."""
    url = f"sqlite:///{folder / 'byop_runs.db'}"
    with EvaluationStore.open(url, HeldClock(LONG_AGO)) as store:
        finish_evaluation(store, NAMES[0], subject="contracts")
        store.set_baseline(NAMES[0], "The first one.")
        with EvaluationStore.open(url, SystemClock()) as now:
            finish_evaluation(now, NAMES[1], subject="contracts")
        yield store


def ids(store: EvaluationStore) -> set[str]:
    return {row.id for row in store.history().rows}


def test_what_is_older_is_erased_and_the_audit_log_says_by_whom_and_why(run: Byop, old: EvaluationStore) -> None:
    listed = run(*RULE, "--dry-run")
    assert (listed.stdout, ids(old)) == (f"{NAMES[0]}  2001-02-03  contracts  baseline\n", set(NAMES[:2]))
    refused = run(*RULE)
    assert refused.exit_code == 2
    assert "Erasing 1 evaluation older than 30 days, 1 baseline among them needs a confirmation" in refused.stderr
    erased = run(*RULE, "--yes", "--by", "Ada")
    assert (erased.exit_code, erased.stdout) == (0, "Erased 1 evaluation. The audit log records it.\n")
    assert ids(old) == {NAMES[1]}
    [entry] = [entry.content for entry in old.audit_log() if entry.action == "erasure"]
    assert (entry["by"], entry["reason"]) == ("Ada", "older than 30 days")
    assert run("verify", "--all").exit_code == 0
    assert run(*RULE, "--yes").stdout == "There is nothing to erase that is older than 30 days.\n"


def test_baselines_can_be_kept(run: Byop, old: EvaluationStore) -> None:
    assert run(*RULE, "--yes", "--keep-baselines").exit_code == 0
    assert ids(old) == set(NAMES[:2])


def test_what_waits_for_the_batch_of_a_provider_is_kept(run: Byop, old: EvaluationStore) -> None:
    begin_evaluation(old, NAMES[2])
    old.save_batch(NAMES[2], {"id": "batch_1"}, waits=True)
    kept = run(*RULE, "--yes")
    assert kept.stderr == "Kept, because they run or wait: 1 evaluation.\n"
    assert ids(old) == set(NAMES[1:])


def test_a_batch_of_documents_is_erased_with_its_last_evaluation(run: Byop, old: EvaluationStore) -> None:
    created_at = LONG_AGO.isoformat(timespec="milliseconds")
    old.batches.create(DocumentBatch("batch", created_at, "Supply agreements", "contracts", 1))
    finish_evaluation(old, NAMES[2], group="batch")
    assert run(*RULE, "--yes").stdout == "Erased 2 evaluations and 1 batch. The audit log records it.\n"
    assert not old.batches.exists("batch")
    assert run("verify", "--all").exit_code == 0
