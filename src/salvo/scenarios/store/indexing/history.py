"""The index of a store in a folder: `history.jsonl`, one line per run in the order in which they ended.

A line that was cut short is removed by the next append. A SQLite cache of the file serves lists (index_cache.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import names, write_atomically
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.ids import is_id, is_run_id, split_run_id
from salvo.scenarios.store.index import Entries, IndexEntry
from salvo.scenarios.store.indexing.base import IndexWatcher, Rebuilt
from salvo.scenarios.store.jsonl import append_line, open_locked, parse_line, tail_lines

if TYPE_CHECKING:
    from salvo.scenarios.store.indexing.index_cache import IndexCache

_TAIL = 512 * 1024
"""Bytes of the index, about 1,000 lines, in which the newest run is looked for."""
_MOST_RUNS = 100_000
"""Per batch. The command line accepts no more, but a file may say anything."""


class HistoryIndex:
    def __init__(self, folder: Path, storage: Storage, load: Callable[[Iterable[str]], Entries]) -> None:
        """`load` returns the entries of runs from their own files."""
        self._storage = storage
        self.path = folder / "history.jsonl"
        self._folder = folder
        self._runs = folder / "runs"
        self._recordings = folder / "recordings"
        self._pending = folder / "pending"
        self._batches = folder / "batches"
        self._load = load

    @cached_property
    def cache(self) -> IndexCache:
        # Imported here, because sqlite3 is not needed to run scenarios.
        from salvo.scenarios.store.indexing.index_cache import IndexCache

        return IndexCache(self.path)

    def batch_ids(self) -> Iterator[str]:
        batch_ids = (name.removesuffix(".json") for name in names(self._batches) if name.endswith(".json"))
        return filter(is_id, batch_ids)

    def batch_content(self, batch_id: str) -> bytes:
        return self._storage.get(f"batches/{batch_id}.json")

    def batch_written(self) -> None:
        pass  # files are always looked at

    def prefetched(self, batch_ids: Iterable[str]) -> list[str]:
        return list(batch_ids)  # files are read quickly

    def add(self, entry: IndexEntry) -> None:
        append_line(self.path, entry)

    def existing_run_ids(self, batch: Batch) -> Iterator[str]:
        # Each possible run is tried, because listing a folder takes longer the more runs the store holds. And the
        # paths are strings, because creating a Path takes longer than trying it.
        runs, recordings = os.fspath(self._runs), os.fspath(self._recordings)
        for number in range(1, min(batch.runs, _MOST_RUNS) + 1):
            run_id = batch.run_id(number)
            if os.access(f"{runs}/{run_id}.json", os.F_OK) or os.access(f"{recordings}/{run_id}", os.F_OK):
                yield run_id

    def entries(self, batch: Batch) -> Entries:
        indexed: dict[str, IndexEntry] = {}
        skipped = 0
        for _, line in self.cache.lines(batch.batch_id):
            entry = parse_line(line, IndexEntry)
            if entry is None:
                skipped += 1
            else:
                indexed[entry.run_id] = entry  # the last line of a run counts
        missing = self._load(run_id for run_id in self.existing_run_ids(batch) if run_id not in indexed)
        entries = Entries(sorted([*indexed.values(), *missing], key=lambda entry: entry.number))
        entries.skipped = skipped + missing.skipped
        return entries

    def unreadable(self, batch_ids: Iterable[str] | None = None, /) -> int:
        if batch_ids is None:
            return self.cache.unreadable_since(0)
        spans = (self.cache.span(batch_id)[0] for batch_id in batch_ids)
        return self.cache.unreadable_since(min(spans, default=self.cache.end()))

    def newest_runs(self, back: int) -> list[str]:
        newest: dict[str, None] = {}
        for line in reversed(tail_lines(self.path, _TAIL * (1 + back // 500))):
            entry = parse_line(line, IndexEntry)
            if entry is None or entry.outcome is Outcome.NOT_RUN or not is_id(entry.run_id):
                continue
            if (self._runs / f"{entry.run_id}.json").is_file():
                newest[entry.run_id] = None
                if len(newest) > back:
                    break
        return list(newest)

    def batch_version(self, batch_id: str, *, complete: bool) -> Hashable:
        folders = () if complete else tuple(map(_modified, (self._runs, self._recordings, self._pending)))
        span = self.cache.span(batch_id)
        return self.cache.generation, span, _modified(self._batches / f"{batch_id}.json"), *folders

    def modified(self, batch_id: str) -> float | None:
        state = _modified(self._batches / f"{batch_id}.json")
        return None if state is None else state[0] / 1e9

    def rebuild(self) -> Rebuilt:
        if not self._folder.is_dir():
            return Rebuilt(0, 0)
        before = self._versions()
        entries = self._load(sorted(before, key=split_run_id))
        with open_locked(self.path):
            # Other processes wait with their lines until this one has replaced the file. What they added before is
            # lost with the old file, so the runs that ended in the meantime are read now.
            late = self._load(run_id for run_id, _ in self._versions().items() - before.items())
            lines = [json_codec.dumps(entry) + b"\n" for entry in (*entries, *late)]
            write_atomically(self.path, b"".join(lines))
        return Rebuilt(len(lines), entries.skipped + late.skipped)

    def watcher(self) -> IndexWatcher:
        return FolderWatcher(self.cache, self._batches)

    def _versions(self) -> dict[str, tuple[int, int]]:
        """Return every run, with values that change when its file is written again."""
        versions = {}
        for name in names(self._runs):
            run_id = name.removesuffix(".json")
            if name.endswith(".json") and is_run_id(run_id):
                with suppress(FileNotFoundError):
                    state = (self._runs / name).stat()
                    versions[run_id] = (state.st_ino, state.st_mtime_ns)
        return versions


class FolderWatcher:
    """Looking at a store in which nothing happened takes two calls of `stat`."""

    poll_factor = 1

    def __init__(self, cache: IndexCache, batches: Path) -> None:
        self._cache = cache
        self._batches = batches
        self._position = self._index_position()
        self._folder = _modified(batches)
        self._files = _modified_files(batches)

    def look(self) -> list[str]:
        changed: set[str] = set()
        if (folder := _modified(self._batches)) != self._folder:
            files = _modified_files(self._batches)
            changed = {batch_id for batch_id, _ in files.items() ^ self._files.items()}
            self._folder, self._files = folder, files
        before, self._position = self._position, self._index_position()
        if self._position[0] != before[0]:  # the index was replaced
            changed |= self._files.keys()
        elif self._position != before:
            changed |= self._cache.batches_since(before[1])
        return sorted(changed)

    def _index_position(self) -> tuple[int, int]:
        self._cache.refresh()
        return self._cache.generation, self._cache.end()


def _modified(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _modified_files(folder: Path) -> dict[str, int]:
    """Return when the file of each batch was modified."""
    try:
        with os.scandir(folder) as items:
            return {
                item.name.removesuffix(".json"): item.stat(follow_symlinks=False).st_mtime_ns
                for item in items
                if item.name.endswith(".json") and not item.name.startswith(".")
            }
    except OSError:
        return {}
