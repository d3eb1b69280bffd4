"""Several processes on one database, and one that is killed."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.queueing.queue import AbandonedEvaluations
from salvo.playbooks.store.records import State
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.playbooks import a_vote
from tests.support.stored_evaluations import begin_evaluation

ROOT = Path(__file__).parents[3]


@contextmanager
def worker(url: str, what: str) -> Iterator["subprocess.Popen[str]"]:
    """Loaded, and waiting for a line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.store_worker", url, what],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.load
def test_processes_make_and_fill_one_fresh_database_at_once(empty_url: str, clock: HeldClock) -> None:
    with (
        worker(empty_url, "evaluations") as one,
        worker(empty_url, "evaluations") as two,
        worker(empty_url, "evaluations") as three,
    ):
        for process in (one, two, three):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in (one, two, three):
            _, said = process.communicate(timeout=60)
            assert (process.returncode, said) == (0, "")
    with EvaluationStore.open(empty_url, clock) as store:
        entries = store.audit_log()
        assert audit_log.check(entries) is None
        [baseline] = store.baselines()  # each of the nine took the place of the one before
        cleared = [entry.report_id for entry in entries if entry.action == audit_log.BASELINE_CLEARED]
        assert (len(cleared), baseline.evaluation_id in cleared) == (8, False)
        assert [row.id for row in store.history().rows if row.baseline] == [baseline.evaluation_id]
        assert [entry.sequence for entry in entries] == list(range(1, 36))
        assert len({entry.report_id for entry in entries}) == 9
        assert {row.state for row in store.history().rows} == {State.DONE}
        assert all([number for number, _ in store.votes(row.id)] == [1, 2, 3, 4, 5, 6] for row in store.history().rows)


def test_a_killed_process_loses_at_most_the_vote_in_flight(url: str, clock: HeldClock) -> None:
    with worker(url, "endless") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        name = process.stdout.readline().strip()
        for _ in range(20):
            process.stdout.readline()
        process.kill()
        told = [20, *map(int, process.stdout.read().split())]
        process.wait()
    with EvaluationStore.open(url, clock) as store:
        kept = [number for number, _ in store.votes(name)]
        assert kept == list(range(1, len(kept) + 1))
        assert told[-1] <= len(kept) <= told[-1] + 1
        assert [row.state for row in store.history().rows] == [State.INTERRUPTED]
        assert store.queue.release_abandoned().interrupted == (name,)
        assert store.load(name).state is State.INTERRUPTED
        store.resume(name)
        assert store.save_votes(name, [a_vote("certainty_language")]) == [len(kept) + 1]


def test_threads_save_votes_at_once_and_each_gets_its_own_number(store: EvaluationStore) -> None:
    name = begin_evaluation(store)
    cast = [a_vote(check, run) for check in ("assumption_disclosure", "certainty_language") for run in range(1, 21)]
    with ThreadPoolExecutor(16) as threads:
        numbers = list(threads.map(lambda vote: store.save_votes(name, [vote])[0], cast))
    assert sorted(numbers) == list(range(1, 41))
    stored = {number: (vote.check_id, vote.run) for number, vote in store.votes(name)}
    assert stored == {number: (vote.check_id, vote.run) for number, vote in zip(numbers, cast, strict=True)}


@pytest.mark.parametrize("times", [1, 2])
def test_what_this_process_runs_is_not_taken_for_left_behind(store: EvaluationStore, times: int) -> None:
    name = begin_evaluation(store)
    for _ in range(times):
        assert store.queue.release_abandoned() == AbandonedEvaluations()
    assert store.load(name).state is State.RUNNING
