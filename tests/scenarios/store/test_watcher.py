"""Watching a store: which batches changed, each reported once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from salvo.scenarios.store.store import RunStore
from salvo.scenarios.store.watcher import StoreWatcher
from tests.scenarios.store.test_batch_catalog import begin
from tests.support.runs import batch, result


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / ".salvo")
    store.prepare()
    return store


Change = Callable[[RunStore], object]


@pytest.mark.parametrize(
    "change, changed",
    [
        (lambda store: store.save_run(result(2, batch_id="02")), ["02"]),
        (lambda store: begin(store, "03", 1), ["03"]),
        (lambda store: store.save_batch(batch("01", runs=9)), ["01"]),
        (lambda store: (store.batches / "01.json").unlink(), ["01"]),
        (lambda store: store.rebuild_index(), ["01", "02"]),
        (lambda store: store.folder, []),
    ],
    ids=["a run", "a batch", "a batch that goes on", "a batch that is gone", "another index", "nothing"],
)
def test_each_changed_batch_is_reported_once(store: RunStore, change: Change, changed: list[str]) -> None:
    begin(store, "01", 1)
    begin(store, "02", 2, done=1)
    watch = StoreWatcher(store)
    assert watch.look() == []
    change(store)
    assert watch.look() == changed
    assert watch.look() == []
