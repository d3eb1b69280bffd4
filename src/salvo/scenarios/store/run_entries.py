"""The entries of a batch's runs in little memory, in the order of their numbers.

A command may make 100,000 runs. A thousand consecutive runs that are complete are kept compressed.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Collection, Iterable, Iterator

from salvo.scenarios.store.index import IndexEntry

_BLOCK = 1000
"""Consecutive numbers that are compressed together. Most batches have fewer runs."""


class RunEntries(Collection[IndexEntry]):
    """Entries by number: the last one of a run counts. They are decoded again in each iteration."""

    def __init__(self, entries: Iterable[IndexEntry] = ()) -> None:
        self._open: dict[int, dict[int, IndexEntry]] = {}
        """Blocks of which runs are missing, by the block's index and the run's number."""
        self._packed: dict[int, bytes] = {}
        for entry in entries:
            self.append(entry)

    def append(self, entry: IndexEntry) -> None:
        index = (entry.number - 1) // _BLOCK
        if index in self._packed:
            self._open[index] = self._unpack(index)
            del self._packed[index]
        block = self._open.setdefault(index, {})
        block[entry.number] = entry
        if len(block) == _BLOCK:
            self._packed[index] = zlib.compress(pickle.dumps(list(block.values()), pickle.HIGHEST_PROTOCOL), 1)
            del self._open[index]

    def __iter__(self) -> Iterator[IndexEntry]:
        for index in sorted([*self._packed, *self._open]):
            block = self._open[index] if index in self._open else self._unpack(index)
            for number in sorted(block):
                yield block[number]

    def __len__(self) -> int:
        return len(self._packed) * _BLOCK + sum(map(len, self._open.values()))

    def __contains__(self, value: object) -> bool:
        return any(entry == value for entry in self)

    def _unpack(self, index: int) -> dict[int, IndexEntry]:
        entries: list[IndexEntry] = pickle.loads(zlib.decompress(self._packed[index]))  # noqa: S301 - packed above
        return {entry.number: entry for entry in entries}
