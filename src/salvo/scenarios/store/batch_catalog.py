"""The batches of a store as a page lists them: each read once, and again only where something was added to it.

Reads the index and never a run's file, but for runs whose line was lost. Threads may share one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias

from salvo.engine.runtime.clock import Clock
from salvo.engine.stats import Interval
from salvo.errors import StoreError, TapeError, UnknownIdError
from salvo.scenarios.analysis.comparison_inputs import partings
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict, Cost, Latency, summarise
from salvo.scenarios.result import Batch
from salvo.scenarios.store.index import Entries, IndexEntry, fields_of, to_entry
from salvo.scenarios.store.positions import Positions
from salvo.scenarios.store.store import RunStore

EVERY = 2**31
_MOST_ROWS = 10_000
_MOST_RUNS = 20_000
"""Runs whose entries are kept in memory, some 2 kB each."""
_MOST_PARTINGS = 20
_LONGEST_RUN = 3600
"""Seconds that are waited for one run, whatever the scenario says."""
_PATIENCE = timedelta(seconds=60)
"""Beyond a run's own time, until a batch in which nothing happens is taken for ended."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch as it is listed: its summary without what is told of single runs."""

    batch_id: str
    scenario_id: str
    provider: str
    model: str
    created_at: str
    source: str
    verdict: BatchVerdict
    runs: int
    completed: int
    passed: int
    failed: int
    errors: int
    not_run: int
    interrupted: int
    missing: int
    pass_rate: float | None
    interval: Interval
    min_pass_rate: float
    confidence: float | None
    average_score: float | None
    cost: Cost
    judge_cost: Cost
    latency: Latency | None
    recorded: bool
    skipped: int
    """Runs, or lines of the index, that could not be read."""
    running: bool
    """Whether runs are missing and something happened of late. Nobody says so: its process may have been killed."""


@dataclass(frozen=True, slots=True)
class CachedBatch:
    """All that is known of a batch without its runs' files."""

    batch: Batch
    entries: Entries
    summary: BatchSummary
    row: BatchRow
    until: datetime | None
    """When it is to be taken for ended, though runs are missing; None where none are."""


_Version: TypeAlias = tuple[object, ...]


class BatchCatalog:
    def __init__(self, store: RunStore, clock: Clock) -> None:
        self.store = store
        self._clock = clock
        self._positions = Positions(store.history)
        self._rows: OrderedDict[str, tuple[_Version, BatchRow, datetime | None]] = OrderedDict()
        self._batches: OrderedDict[str, tuple[_Version, CachedBatch]] = OrderedDict()
        self._partings: dict[str, tuple[CachedBatch, Divergence | None]] = {}
        self._lock = RLock()

    @property
    def unreadable(self) -> int:
        """Lines of the index, of those that were passed, that belong to no batch."""
        return self._positions.unreadable

    def row(self, batch_id: str) -> BatchRow:
        with self._lock:
            self._positions.refresh()
            version = self._version(batch_id)
            known = self._rows.get(batch_id)
            if known is None or known[0] != version:
                self.shelved(batch_id)
                known = self._rows[batch_id]
            _, row, until = known
            return replace(row, running=self._is_before(until))

    def rows(self, offset: int = 0) -> Iterator[BatchRow | None]:
        """From the offset on, the newest first, as they are asked for; None for one that cannot be read."""
        for batch_id in self.store.newest_batches(EVERY)[offset:]:
            try:
                yield self.row(batch_id)
            except (StoreError, TapeError, UnknownIdError):
                yield None

    def shelved(self, batch_id: str) -> CachedBatch:
        with self._lock:
            self._positions.refresh()
            version = self._version(batch_id)
            known = self._batches.get(batch_id)
            if known is not None and known[0] == version:
                self._batches.move_to_end(batch_id)
                return known[1]
            made = self._read(batch_id)
            self._rows[batch_id] = (), made.row, None
            version = self._version(batch_id)  # reading it may have led further back in the index
            self._rows[batch_id] = version, made.row, made.until
            self._batches[batch_id] = version, made
            self._make_room()
            return made

    def is_running(self, of: CachedBatch) -> bool:
        return self._is_before(of.until)

    def _is_before(self, until: datetime | None) -> bool:
        return until is not None and self._clock.now() < until

    def listed(self, batch_ids: Iterable[str]) -> Entries:
        """The runs of these batches, in the order given: what Store.listed gives, without reading it again."""
        found = Entries()
        for batch_id in batch_ids:
            entries = self.shelved(batch_id).entries
            found.extend(entries)
            found.skipped += entries.skipped
        return found

    def parting(self, of: CachedBatch) -> Divergence | None:
        """Where failing and passing runs part: run files are read for it, as few as will do, and once."""
        with self._lock:
            known = self._partings.get(of.row.batch_id)
            if known is None or known[0] is not of:
                found = partings(self.store, [(of.row.scenario_id, of.entries)])
                known = of, found.get(of.row.scenario_id)
                self._partings[of.row.batch_id] = known
            if len(self._partings) > _MOST_PARTINGS:
                del self._partings[next(iter(self._partings))]
            return known[1]

    def _version(self, batch_id: str) -> _Version:
        """What changes when the batch does. Of one with lost lines, whenever any run is stored."""
        known = self._rows.get(batch_id)
        whole = known is not None and not known[1].missing and not known[1].skipped
        folders = () if whole else (_changed(self.store.runs), _changed(self.store.recordings))
        lines = len(self._positions.of(batch_id))
        return (self._positions.generation, lines, _changed(self.store.batches / f"{batch_id}.json"), whole, *folders)

    def _read(self, batch_id: str) -> CachedBatch:
        batch = self.store.load_batch(batch_id)
        entries = self._entries(batch)
        summary = summarise(batch, entries)
        until = self._until(batch, entries) if summary.missing else None
        return CachedBatch(batch, entries, summary, _row(batch, summary, entries.skipped), until)

    def _until(self, batch: Batch, entries: Entries) -> datetime | None:
        """So long after something was last heard of it as a run may take, and a while."""
        written = _changed(self.store.batches / f"{batch.batch_id}.json")
        heard = [] if written is None else [datetime.fromtimestamp(written[0] / 1e9).astimezone()]
        last = max([*heard, *filter(None, map(_ended, entries))], default=None)
        timeout = batch.scenario.get("timeout")
        longest = min(timeout, _LONGEST_RUN) if isinstance(timeout, int | float) else 0
        return None if last is None else last + timedelta(seconds=longest) + _PATIENCE

    def _entries(self, batch: Batch) -> Entries:
        """By the index; a run whose line is not there is read from its own file."""
        on_disk = set(self.store.on_disk(batch))
        while len(self._positions.of(batch.batch_id)) < len(on_disk) and self._positions.extend():
            pass
        found: dict[str, IndexEntry] = {}
        skipped = 0
        for line in self._positions.lines(self._positions.of(batch.batch_id)):
            entry = to_entry(fields_of(line))
            if entry is None or entry.batch_id != batch.batch_id:
                skipped += 1
            else:
                found[entry.run_id] = entry  # the last that was written is the one that counts
        lost = self.store.entries(sorted(on_disk - found.keys()))
        entries = Entries(sorted([*found.values(), *lost], key=lambda of: of.number))
        entries.skipped = skipped + lost.skipped
        return entries

    def _make_room(self) -> None:
        while len(self._rows) > _MOST_ROWS:
            self._rows.popitem(last=False)
        kept = sum(len(known.entries) for _, known in self._batches.values())
        while kept > _MOST_RUNS and len(self._batches) > 1:
            _, (_, gone) = self._batches.popitem(last=False)
            kept -= len(gone.entries)


def _row(batch: Batch, summary: BatchSummary, skipped: int) -> BatchRow:
    others: Mapping[str, Any] = {
        part.name: getattr(summary, part.name) for part in fields(BatchRow) if hasattr(summary, part.name)
    }
    return BatchRow(confidence=batch.confidence, recorded=batch.recorded, skipped=skipped, running=False, **others)


def _ended(entry: IndexEntry) -> datetime | None:
    try:
        began = datetime.fromisoformat(entry.timestamp)
        return (began if began.tzinfo else began.astimezone()) + timedelta(seconds=entry.latency)
    except (ValueError, OverflowError, OSError):  # whatever a file says
        return None


def _changed(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
