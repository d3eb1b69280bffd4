"""Watch a store: which batches are new, or got runs."""

from __future__ import annotations

import os
from pathlib import Path

from salvo.scenarios.store.store import RunStore


class StoreWatcher:
    """Reports changes from now on. Looking at a store in which nothing happened takes two calls of `stat`."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._position = self._index_position()
        self._folder = _modified(store.batches)
        self._files = _modified_files(store.batches)

    def look(self) -> list[str]:
        """Return the batches that are new, were written again or got runs since the last look, in order."""
        changed: set[str] = set()
        if (folder := _modified(self._store.batches)) != self._folder:
            files = _modified_files(self._store.batches)
            changed = {batch_id for batch_id, _ in files.items() ^ self._files.items()}
            self._folder, self._files = folder, files
        before, self._position = self._position, self._index_position()
        if self._position[0] != before[0]:  # the index was replaced
            changed |= self._files.keys()
        elif self._position != before:
            changed |= self._store.index.batches_since(before[1])
        return sorted(changed)

    def _index_position(self) -> tuple[int, int]:
        self._store.index.refresh()
        return self._store.index.generation, self._store.index.end()


def _modified(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


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
