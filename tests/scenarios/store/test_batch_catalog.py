"""The batches of a store as a page lists them: what is read, when again, and which changes a watcher reports."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from salvo.errors import StoreError
from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore
from tests.support.clock import HeldClock
from tests.support.runs import batch, result
from tests.support.scenario_store import fill


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    return store


@pytest.fixture
def catalog(store: RunStore) -> BatchCatalog:
    return BatchCatalog(store, HeldClock())


def begin(store: RunStore, batch_id: str, runs: int, done: int | None = None) -> Batch:
    begun = batch(batch_id, runs=runs)
    store.save_batch(begun)
    for number in range(1, (runs if done is None else done) + 1):
        store.save_run(result(number, batch_id=batch_id))
    return begun


def rows(catalog: BatchCatalog) -> list[tuple[str, int] | None]:
    return [None if row is None else (row.batch_id, row.passed) for row in catalog.rows()]


def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: RunStore, run_id: str) -> None:
        raise AssertionError(f"{run_id} was read")

    monkeypatch.setattr(RunStore, "load_run", refuse)


def test_every_batch_is_listed_the_newest_first_and_no_run_file_is_read(
    store: RunStore, catalog: BatchCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(store, "01", 3)
    begin(store, "02", 2)
    no_files(monkeypatch)
    assert rows(catalog) == [("02", 2), ("01", 3)]


def test_a_row_says_what_the_summary_says(tmp_path: Path) -> None:
    store = fill(tmp_path, days=1, runs=12)
    catalog = BatchCatalog(store, HeldClock())
    for row in catalog.rows():
        assert row is not None
        summary = summarise(store.load_batch(row.batch_id), store.load_entries(row.batch_id))
        assert catalog.get(row.batch_id).summary == summary
        assert (row.verdict, row.interval, row.cost) == (summary.verdict, summary.interval, summary.cost)
        assert (row.passed, row.failed, row.errors) == (summary.passed, summary.failed, summary.errors)


def test_a_batch_is_read_again_only_when_something_was_added_to_it(
    store: RunStore, catalog: BatchCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(store, "01", 3)
    begin(store, "02", 3, done=1)
    assert rows(catalog) == [("02", 1), ("01", 3)]
    read: list[str] = []
    load = RunStore.load_batch

    def noted(of: RunStore, batch_id: str) -> Batch:
        read.append(batch_id)
        return load(of, batch_id)

    monkeypatch.setattr(RunStore, "load_batch", noted)
    assert rows(catalog) == [("02", 1), ("01", 3)]
    assert read == []
    store.save_run(result(2, batch_id="02"))
    assert rows(catalog) == [("02", 2), ("01", 3)]
    assert read == ["02"]


def test_a_run_whose_line_was_lost_is_read_from_its_file_and_a_lost_index_is_no_loss(
    store: RunStore, catalog: BatchCatalog
) -> None:
    begin(store, "01", 3)
    lines = (store.folder / "history.jsonl").read_bytes().splitlines(keepends=True)
    (store.folder / "history.jsonl").write_bytes(b"".join(lines[:-1]))
    assert rows(catalog) == [("01", 3)]
    (store.folder / "history.jsonl").unlink()
    assert rows(catalog) == [("01", 3)]
    store.rebuild_index()
    assert rows(catalog) == [("01", 3)]


def test_the_last_line_of_a_run_counts(store: RunStore, catalog: BatchCatalog) -> None:
    begin(store, "01", 2)
    assert rows(catalog) == [("01", 2)]
    store.index.add(index_entry(result(2, Outcome.FAILED, batch_id="01")))  # as an earlier version may have written
    assert rows(catalog) == [("01", 1)]


def test_what_cannot_be_read_is_counted_and_hides_nothing_else(store: RunStore, catalog: BatchCatalog) -> None:
    begin(store, "01", 2)
    begin(store, "02", 1)
    (store.folder / "batches" / "02.json").write_text("{")
    with (store.folder / "history.jsonl").open("ab") as history:
        history.write(b'\nnot JSON\n{"run_id": "01-0002", "batch_id": "01", "number": "x"}\n{"batch_id": "01"\n')
    (store.folder / "runs" / "01-0002.json").write_text("{")
    found = list(catalog.rows())
    assert (found[0], found[1] and found[1].passed, found[1] and found[1].skipped) == (None, 2, 1)
    assert catalog.unreadable == 2
    with pytest.raises(StoreError, match="damaged"):
        catalog.get("02")


def test_a_batch_that_claims_more_runs_than_can_be_is_still_listed(store: RunStore, catalog: BatchCatalog) -> None:
    store.save_batch(batch("01", runs=10**12))
    (row,) = catalog.rows()
    assert row is not None
    assert row.missing == 10**12


def test_a_store_that_is_not_there_yet_appears(tmp_path: Path) -> None:
    store = RunStore(tmp_path / ".salvo")
    catalog, watch = BatchCatalog(store, HeldClock()), store.index.watcher()
    assert (rows(catalog), watch.look()) == ([], [])
    store.prepare()
    begin(store, "01", 1)
    assert (rows(catalog), watch.look()) == ([("01", 1)], ["01"])


def test_a_batch_with_missing_runs_is_running_while_something_happens(store: RunStore, catalog: BatchCatalog) -> None:
    store.save_batch(batch("01", runs=2, scenario={"scenario": "x", "timeout": 30}))
    store.save_run(result(1, batch_id="01"))
    written = (store.folder / "batches" / "01.json").stat().st_mtime
    until = catalog.get("01").running_until
    assert until is not None
    assert until.timestamp() == pytest.approx(written + 90)

    def running(now: datetime) -> bool:
        (row,) = BatchCatalog(store, HeldClock(now)).rows()
        assert row is not None
        return row.running

    assert running(until - timedelta(seconds=1))
    assert not running(until)
    store.save_run(result(2, batch_id="01"))
    assert not running(until - timedelta(seconds=1))


def test_where_runs_part_is_found_once(store: RunStore, catalog: BatchCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(store, "01", 1)
    store.save_run(result(2, Outcome.FAILED, batch_id="01", final_output="no"))
    found = catalog.divergence(catalog.get("01"))
    assert found is not None
    assert found.failing.run_id == "01-0002"
    no_files(monkeypatch)
    assert catalog.divergence(catalog.get("01")) == found


Change = Callable[[RunStore], object]


@pytest.mark.parametrize(
    "change, changed",
    [
        (lambda store: store.save_run(result(2, batch_id="02")), ["02"]),
        (lambda store: begin(store, "03", 1), ["03"]),
        (lambda store: store.save_batch(batch("01", runs=9)), ["01"]),
        (lambda store: (store.folder / "batches" / "01.json").unlink(), ["01"]),
        (lambda store: store.rebuild_index(), ["01", "02"]),
        (lambda store: store.folder, []),
    ],
    ids=["a run", "a batch", "a batch that goes on", "a batch that is gone", "another index", "nothing"],
)
def test_each_changed_batch_is_reported_once(store: RunStore, change: Change, changed: list[str]) -> None:
    begin(store, "01", 1)
    begin(store, "02", 2, done=1)
    watch = store.index.watcher()
    assert watch.look() == []
    change(store)
    assert watch.look() == changed
    assert watch.look() == []
