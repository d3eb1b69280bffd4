"""The batches of a store as the dashboard lists them.

A batch is read once, and again when it has changed: from the index, and from the files of runs that the index lacks.
Threads may share a catalog.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.runtime.clock import Clock
from salvo.errors import StoreError, TapeError, UnknownIdError
from salvo.records import record
from salvo.scenarios.analysis.comparison_inputs import find_divergences
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import BatchCounts, BatchSummary, Cost, Latency, TurnCounts, summarise
from salvo.scenarios.labels.label_store import LabelStore
from salvo.scenarios.labels.lookup import stored_evidence
from salvo.scenarios.result import Batch
from salvo.scenarios.store.index import Entries, IndexEntry
from salvo.scenarios.store.store import RunStore

EVERY = 2**31
_PAGE = 50
"""Batches that are read ahead where reading one by one is slow."""
_MOST_ROWS = 10_000
_MOST_RUNS = 20_000
"""Runs whose entries are kept in memory, about 2 kB each."""
_MOST_DIVERGENCES = 20
_LONGEST_RUN = 3600
"""Seconds after which a run is no longer waited for, whatever the timeout of its scenario."""
_GRACE = timedelta(seconds=60)
"""Added to the timeout of a run, before a batch without news counts as ended."""


@record
class BatchRow(BatchCounts):
    """A batch in a list: its summary without single runs."""

    confidence: float | None
    average_score: float | None
    cost: Cost
    judge_cost: Cost
    user_cost: Cost
    turns: TurnCounts | None
    latency: Latency | None
    recorded: bool
    skipped: int
    """Runs, or lines of the index, that could not be read."""
    running: bool
    """Whether runs are missing and something happened recently. This is a guess: the process may have been killed."""


@record
class CachedBatch:
    """Everything about a batch that is known without its run files."""

    batch: Batch
    entries: Entries
    summary: BatchSummary
    row: BatchRow
    running_until: datetime | None
    """When the batch counts as ended although runs are missing; None if none are."""


class BatchCatalog:
    def __init__(self, store: RunStore, clock: Clock) -> None:
        self.store = store
        self._clock = clock
        self._rows: OrderedDict[str, tuple[Hashable, BatchRow, datetime | None]] = OrderedDict()
        self._batches: OrderedDict[str, tuple[Hashable, CachedBatch]] = OrderedDict()
        self._divergences: OrderedDict[str, tuple[CachedBatch, Divergence | None]] = OrderedDict()
        self._labelled: set[str] = set()
        """The batches whose rows depend on labels."""
        self._lock = RLock()

    @property
    def unreadable(self) -> int:
        """The number of lines of the index that belong to no batch."""
        return self.store.index.unreadable()

    def row(self, batch_id: str) -> BatchRow:
        with self._lock:
            cached = self._rows.get(batch_id)
            if cached is None or cached[0] != self._version(batch_id, cached[1]):
                self.get(batch_id)
                cached = self._rows[batch_id]
            _, row, running_until = cached
            return replace(row, running=self._is_before(running_until))

    def rows(self, offset: int = 0) -> Iterator[BatchRow | None]:
        """Yield the rows from an offset on, newest first; None for a batch that cannot be read."""
        batch_ids = self.store.newest_batches(EVERY)
        for start in range(offset, len(batch_ids), _PAGE):
            for batch_id in self.store.index.prefetched(batch_ids[start : start + _PAGE]):
                try:
                    yield self.row(batch_id)
                except (StoreError, TapeError, UnknownIdError):
                    yield None

    def find(self, text: str) -> CachedBatch:
        """Return the batch that a text names, as `RunStore.find_batch` finds it."""
        return self.get(self.store.find_batch(text))

    def get(self, batch_id: str) -> CachedBatch:
        with self._lock:
            cached = self._batches.get(batch_id)
            if cached is not None and cached[0] == self._version(batch_id, cached[1].row):
                self._batches.move_to_end(batch_id)
                return cached[1]
            batch = self._read(batch_id)
            version = self._version(batch_id, batch.row)
            self._rows[batch_id] = version, batch.row, batch.running_until
            self._batches[batch_id] = version, batch
            self._evict()
            return batch

    def labels_changed(self, batch_id: str) -> None:
        """Read a batch again after a run of it was labelled here."""
        with self._lock:
            self._rows.pop(batch_id, None)
            self._batches.pop(batch_id, None)

    def is_running(self, batch: CachedBatch) -> bool:
        return self._is_before(batch.running_until)

    def list_entries(self, batch_ids: Iterable[str]) -> Entries:
        """Return the runs of these batches, as `RunStore.list_entries` does, from memory where they are there."""
        entries = Entries()
        for batch_id in batch_ids:
            batch_entries = self.get(batch_id).entries
            entries.extend(batch_entries)
            entries.skipped += batch_entries.skipped
        return entries

    def divergence(self, batch: CachedBatch) -> Divergence | None:
        """Return where failing and passing runs diverge. This reads a limited number of run files, once per batch."""
        scenario_id = batch.row.scenario_id
        with self._lock:
            cached = self._divergences.get(batch.row.batch_id)
            if cached is None or cached[0] is not batch:
                cached = batch, find_divergences(self.store, [(scenario_id, batch.entries)]).get(scenario_id)
                self._divergences[batch.row.batch_id] = cached
            if len(self._divergences) > _MOST_DIVERGENCES:
                self._divergences.popitem(last=False)
            return cached[1]

    def _is_before(self, time: datetime | None) -> bool:
        return time is not None and self._clock.now() < time

    def _version(self, batch_id: str, row: BatchRow) -> Hashable:
        """Return what changes when the batch does; for a batch with missing runs, whenever any run is stored."""
        version = self.store.index.batch_version(batch_id, complete=not (row.missing or row.pending or row.skipped))
        if row.missing:
            version = version, *(note.command_id for note in self.store.notes_of_ended(batch_id))
        return (version, LabelStore(self.store).version()) if batch_id in self._labelled else version

    def _read(self, batch_id: str) -> CachedBatch:
        batch = self.store.load_batch(batch_id)
        entries = self.store.batch_entries(batch)
        batch = self.store.with_lost_attempts(batch, entries)
        evidence = stored_evidence(self.store, batch)
        summary = summarise(batch, entries, labels=evidence)
        if evidence is not None:
            self._labelled.add(batch_id)
        running_until = self._running_until(batch, entries) if summary.missing else None
        more = {"confidence": batch.confidence, "recorded": batch.recorded, "skipped": entries.skipped}
        row = copy_fields(BatchRow, summary, **more, running=False)
        return CachedBatch(batch, entries, summary, row, running_until)

    def _running_until(self, batch: Batch, entries: Entries) -> datetime | None:
        """Return the time of the last sign of the batch, plus the time that a run may take."""
        saved = self.store.index.modified(batch.batch_id)
        signs = [] if saved is None else [datetime.fromtimestamp(saved).astimezone()]
        last = max([*signs, *filter(None, map(_end, entries))], default=None)
        timeout = batch.scenario.get("timeout")
        longest = min(timeout, _LONGEST_RUN) if isinstance(timeout, int | float) else 0
        return None if last is None else last + timedelta(seconds=longest) + _GRACE

    def _evict(self) -> None:
        while len(self._rows) > _MOST_ROWS:
            self._rows.popitem(last=False)
        runs = sum(len(batch.entries) for _, batch in self._batches.values())
        while runs > _MOST_RUNS and len(self._batches) > 1:
            _, (_, batch) = self._batches.popitem(last=False)
            runs -= len(batch.entries)


def _end(entry: IndexEntry) -> datetime | None:
    try:
        start = datetime.fromisoformat(entry.timestamp)
        return (start if start.tzinfo else start.astimezone()) + timedelta(seconds=entry.latency)
    except (ValueError, OverflowError, OSError):  # a file may say anything
        return None
