"""The index of a store in an object store: a cache of its batches and runs in a SQLite database on this machine.

The objects are the truth, and the cache can be deleted at any time. A batch with all its runs in the cache is not asked
for again. For any other one the runs are listed, and those that the cache lacks are read: so a run counts however late
it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from threading import RLock

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import SystemClock
from salvo.errors import StoreError, TapeError
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.backends.base import Storage, StoredObject, map_in_threads
from salvo.scenarios.store.ids import is_id, is_run_id
from salvo.scenarios.store.index import Entries, IndexEntry
from salvo.scenarios.store.indexing.base import IndexWatcher, Rebuilt
from salvo.scenarios.store.indexing.cache_database import CacheDatabase
from salvo.scenarios.store.jsonl import parse_line

_VERSION = 1
_SCHEMA = (
    "DROP TABLE IF EXISTS batches",
    "DROP TABLE IF EXISTS runs",
    "CREATE TABLE batches (batch_id TEXT PRIMARY KEY, version TEXT, content BLOB)",
    "CREATE TABLE runs (run_id TEXT PRIMARY KEY, batch_id TEXT, version TEXT, line BLOB)",
    "CREATE INDEX runs_by_batch ON runs (batch_id)",
)
_LISTING_SECONDS = 1.0
"""How long a listing of the batches is used again."""
_LISTING_FACTOR = 5
"""How many times longer than it took, if that is more: otherwise a slow list would be made for each batch of it."""
_MOST_WATCHED = 20
"""Batches with missing runs whose runs a watcher lists, the newest first."""
_RECORDED_ONLY = "recording"
"""The version of a run of which only the recording is stored."""


class ObjectIndex:
    def __init__(self, storage: Storage, folder: Path, load: Callable[[Iterable[str]], Entries]) -> None:
        """`folder` is the store's folder on this machine. `load` returns the entries of runs from their objects."""
        self._storage = storage
        self._load = load
        self._database = CacheDatabase(folder / "cache" / "objects.sqlite3", folder, _SCHEMA, _VERSION)
        self._clock = SystemClock()
        self._listing: tuple[float, dict[str, StoredObject]] | None = None
        """Until when the last listing is used, and the batches in it."""
        self._lock = RLock()

    def batches(self) -> dict[str, StoredObject]:
        """Return every batch, as it was listed in this second; if a list takes longer, a few times as long ago."""
        with self._lock:
            if self._listing is None or self._clock.monotonic() > self._listing[0]:
                start = self._clock.monotonic()
                items = ((item.name.removesuffix(".json"), item) for item in self._storage.list("batches", ""))
                batches = {name: item for name, item in items if is_id(name) and item.name != name}
                now = self._clock.monotonic()
                self._listing = now + max(_LISTING_SECONDS, _LISTING_FACTOR * (now - start)), batches
            return self._listing[1]

    def batch_ids(self) -> Iterator[str]:
        return iter(self.batches())

    def batch_written(self) -> None:
        """List the batches again the next time."""
        with self._lock:
            self._listing = None

    def batch_content(self, batch_id: str) -> bytes:
        """Return the object of a batch, from the cache if it has not changed. Raise FileNotFoundError."""
        item = self.batches().get(batch_id)
        if item is not None:
            rows = self._database.query(
                "SELECT content FROM batches WHERE batch_id = ? AND version = ?", batch_id, item.version
            )
            if rows:
                return bytes(rows[0][0])
        content = self._storage.get(f"batches/{batch_id}.json")
        if item is not None:
            self._database.write([("REPLACE INTO batches VALUES (?, ?, ?)", (batch_id, item.version, content))])
        return content

    def prefetched(self, batch_ids: Iterable[str]) -> list[str]:
        """Return these batches, after their objects were read into the cache, several at a time."""
        batch_ids = list(batch_ids)
        batches = self.batches()
        versions = dict(self._database.query("SELECT batch_id, version FROM batches"))
        outdated = [item for item in batch_ids if item in batches and versions.get(item) != batches[item].version]
        if len(outdated) > 1:
            contents = list(map_in_threads(self._content_or_none, outdated))
            self._database.write(
                ("REPLACE INTO batches VALUES (?, ?, ?)", (batch_id, batches[batch_id].version, content))
                for batch_id, content in zip(outdated, contents, strict=True)
                if content is not None
            )
        return batch_ids

    def add(self, entry: IndexEntry) -> None:
        """Do nothing: the run is found when its batch is listed, with the version that its object has."""

    def existing_run_ids(self, batch: Batch) -> Iterator[str]:
        cached = self._cached(batch.batch_id)
        if _is_complete(batch, cached):
            yield from sorted(cached)
        else:
            yield from sorted(self._list_versions(batch.batch_id))

    def entries(self, batch: Batch) -> Entries:
        cached = self._cached(batch.batch_id)
        skipped = 0
        if not _is_complete(batch, cached):
            items = self._list_versions(batch.batch_id)
            stale = [run_id for run_id, (version, _) in cached.items() if items.get(run_id) != version]
            missing = [run_id for run_id in items if run_id not in cached or run_id in stale]
            read = self._load(missing)
            skipped = read.skipped
            self._database.write([("DELETE FROM runs WHERE run_id = ?", (run_id,)) for run_id in stale])
            self._database.write(
                ("REPLACE INTO runs VALUES (?, ?, ?, ?)", _row(batch.batch_id, entry, items[entry.run_id]))
                for entry in read
                if entry.run_id in items
            )
            cached = self._cached(batch.batch_id)
        parsed = [parse_line(line, IndexEntry) for _, line in cached.values()]
        entries = Entries(sorted((item for item in parsed if item is not None), key=lambda entry: entry.number))
        entries.skipped = skipped + parsed.count(None)
        return entries

    def unreadable(self, _batch_ids: Iterable[str] | None = None, /) -> int:
        return 0  # every object belongs to a batch, by its name

    def newest_runs(self, back: int) -> list[str]:
        """Return the runs of the newest batches, and of all batches of the same commands, by the time they ended."""
        entries: list[IndexEntry] = []
        command = None
        for batch_id in sorted(self.batches(), reverse=True):
            try:
                batch = parse_line(self.batch_content(batch_id), Batch)
            except (StoreError, FileNotFoundError):
                continue
            if batch is None or batch.batch_id != batch_id:
                continue
            if len(entries) > back and batch.command != command:
                break
            command = batch.command
            entries += [entry for entry in self.entries(batch) if entry.outcome is not Outcome.NOT_RUN]
        entries.sort(key=_end, reverse=True)
        return [entry.run_id for entry in entries]

    def batch_version(self, batch_id: str, *, complete: bool) -> Hashable:
        item = self.batches().get(batch_id)
        version = None if item is None else item.version
        return version if complete else (version, frozenset(self._list_versions(batch_id).items()))

    def modified(self, batch_id: str) -> float | None:
        item = self.batches().get(batch_id)
        return None if item is None else item.modified.timestamp()

    def rebuild(self) -> Rebuilt:
        self._database.write([("DELETE FROM runs", ()), ("DELETE FROM batches", ())])
        runs = skipped = 0
        for batch_id in self.prefetched(self.batches()):
            batch = parse_line(self.batch_content(batch_id), Batch)
            if batch is None or batch.batch_id != batch_id:
                continue
            entries = self.entries(batch)
            runs += len(entries)
            skipped += entries.skipped
        return Rebuilt(runs, skipped)

    def watcher(self) -> IndexWatcher:
        return ObjectWatcher(self)

    def open_batches(self) -> dict[str, Hashable]:
        """Return the newest batches with missing runs, each with what changes when it gets one."""
        newest = sorted(self.batches(), reverse=True)
        versions: dict[str, Hashable] = {}
        for batch_id in newest:
            if len(versions) >= _MOST_WATCHED:
                break
            batch = parse_line(self.batch_content(batch_id), Batch)
            if batch is not None and not _is_complete(batch, self._cached(batch_id)):
                versions[batch_id] = frozenset(self._list_versions(batch_id))
        return versions

    def _content_or_none(self, batch_id: str) -> bytes | None:
        try:
            return self._storage.get(f"batches/{batch_id}.json")
        except (FileNotFoundError, StoreError):
            return None  # whoever needs it gets the error

    def _cached(self, batch_id: str) -> dict[str, tuple[str, bytes]]:
        rows = self._database.query("SELECT run_id, version, line FROM runs WHERE batch_id = ?", batch_id)
        return {run_id: (version, bytes(line)) for run_id, version, line in rows}

    def _list_versions(self, batch_id: str) -> dict[str, str]:
        """Return every run of a batch, with the version of its object."""
        prefix = f"{batch_id}-"
        versions = {name: _RECORDED_ONLY for name in self._storage.names("recordings", prefix) if is_run_id(name)}
        for item in self._storage.list("runs", prefix):
            run_id = item.name.removesuffix(".json")
            if item.name.endswith(".json") and is_run_id(run_id):
                versions[run_id] = item.version
        return versions


class ObjectWatcher:
    """Lists the batches at each look, and the runs of those that miss some. The others are complete."""

    poll_factor = 5

    def __init__(self, index: ObjectIndex) -> None:
        self._index = index
        self._seen = self._state()

    def look(self) -> list[str]:
        try:
            state = self._state()
        except (StoreError, TapeError):
            return []  # out of reach for now: the next look reports what changed
        changed = {batch_id for batch_id, _ in state.items() ^ self._seen.items()}
        self._seen = state
        return sorted(changed)

    def _state(self) -> dict[str, Hashable]:
        self._index.batch_written()
        versions = {batch_id: item.version for batch_id, item in self._index.batches().items()}
        return {**versions, **{key: (versions[key], runs) for key, runs in self._index.open_batches().items()}}


def _is_complete(batch: Batch, cached: dict[str, tuple[str, bytes]]) -> bool:
    return len(cached) >= batch.runs and all(version != _RECORDED_ONLY for version, _ in cached.values())


def _row(batch_id: str, entry: IndexEntry, version: str) -> tuple[str, str, str, bytes]:
    return entry.run_id, batch_id, version, json_codec.dumps(entry)


def _end(entry: IndexEntry) -> datetime:
    try:
        start = datetime.fromisoformat(entry.timestamp)
        return (start if start.tzinfo else start.astimezone()) + timedelta(seconds=entry.latency)
    except (ValueError, OverflowError, OSError):  # an object may say anything
        return datetime.fromtimestamp(0).astimezone()
