"""What happens in a store while somebody looks on: which batches are new, or got runs."""

from __future__ import annotations

import os
from pathlib import Path

from salvo.scenarios.store.positions import Positions
from salvo.scenarios.store.store import RunStore


class StoreWatcher:
    """From now on. Two looks at a store in which nothing happens cost two questions to the file system."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._positions = Positions(store.history)
        self._positions.refresh()
        self._generation = self._positions.generation
        self._folder = _changed(store.batches)
        self._files = _files(store.batches)

    def look(self) -> list[str]:
        """The batches that are new, were written again or got runs since the last look, in their order."""
        changed = self._positions.refresh()
        folder = _changed(self._store.batches)
        if folder != self._folder:
            files = _files(self._store.batches)
            changed |= {name.removesuffix(".json") for name, _ in files.items() ^ self._files.items()}
            self._folder, self._files = folder, files
        if self._positions.generation != self._generation:  # the index is new, or was made again
            self._generation = self._positions.generation
            changed |= {name.removesuffix(".json") for name in self._files}
        return sorted(changed)


def _changed(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _files(folder: Path) -> dict[str, int]:
    """Each batch's file, with when it was written."""
    try:
        with os.scandir(folder) as found:
            return {
                entry.name: entry.stat(follow_symlinks=False).st_mtime_ns
                for entry in found
                if entry.name.endswith(".json") and not entry.name.startswith(".")
            }
    except OSError:
        return {}
