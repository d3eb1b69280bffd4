"""The entries of a batch's runs in little memory, in the order of their numbers.

A command may make 100,000 runs, or every eighth of them. All but the last few are kept compressed.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping

from salvo.scenarios.store.index import IndexEntry

_BLOCK = 1000
"""Consecutive numbers that are decoded together. Most batches have fewer runs."""
_MOST_OPEN = 2 * _BLOCK
"""Entries that are not compressed yet."""


class RunEntries(Collection[IndexEntry]):
    """Entries by number: the last one of a run counts. They are decoded again in each iteration."""

    def __init__(self, entries: Iterable[IndexEntry] = ()) -> None:
        self._open: dict[int, dict[int, IndexEntry]] = {}
        """The newest entries, by the block's index and the run's number."""
        self._packed: dict[int, list[bytes]] = {}
        """Those before, by the block's index. What was packed later counts."""
        self._numbers: dict[int, int] = {}
        """By the block's index a bit for each run that it has."""
        self._open_count = 0
        for entry in entries:
            self.append(entry)

    def append(self, entry: IndexEntry) -> None:
        index, place = divmod(entry.number - 1, _BLOCK)
        block = self._open.setdefault(index, {})
        self._open_count += entry.number not in block
        block[entry.number] = entry
        self._numbers[index] = self._numbers.get(index, 0) | 1 << place
        if len(block) == _BLOCK:
            self._pack(index)
        elif self._open_count >= _MOST_OPEN:
            self._pack(max(self._open, key=lambda index: len(self._open[index])))

    def __iter__(self) -> Iterator[IndexEntry]:
        for index in sorted(self._numbers):
            block = {entry.number: entry for packed in self._packed.get(index, ()) for entry in _unpack(packed)}
            block |= self._open.get(index, {})
            for number in sorted(block):
                yield block[number]

    def __len__(self) -> int:
        return sum(numbers.bit_count() for numbers in self._numbers.values())

    def __or__(self, other: RunEntries) -> RunEntries:
        """Return the entries of both. Where both have a run, the other's counts."""
        entries = RunEntries()
        for part in (self, other):
            for index, packed in part._packed.items():
                entries._packed.setdefault(index, []).extend(packed)
            for index, numbers in part._numbers.items():
                entries._numbers[index] = entries._numbers.get(index, 0) | numbers
            for index, block in part._open.items():
                entries._packed.setdefault(index, []).append(_pack(block))
        return entries

    def __contains__(self, value: object) -> bool:
        return any(entry == value for entry in self)

    def _pack(self, index: int) -> None:
        block = self._open.pop(index)
        self._open_count -= len(block)
        self._packed.setdefault(index, []).append(_pack(block))


def _pack(block: Mapping[int, IndexEntry]) -> bytes:
    return zlib.compress(pickle.dumps(list(block.values()), pickle.HIGHEST_PROTOCOL), 1)


def _unpack(packed: bytes) -> list[IndexEntry]:
    entries: list[IndexEntry] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - packed above
    return entries
