"""Where in the index each batch's runs stand, so that one batch is read without the others.

Found from the end of the file backwards, as far as was ever asked for; what is appended later is found by reading that
alone. No line is taken for true here: whoever reads it checks it.
"""

from __future__ import annotations

import re
import stat
from array import array
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 4 * 1024 * 1024
_BATCH = re.compile(rb'"batch_id"\s*:\s*"([A-Za-z0-9_-]{1,128})"')


class Positions:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.unreadable = 0
        """Lines, of those that were passed, that belong to no batch."""
        self.generation = 0
        """Another number after each time that the file was replaced."""
        self._of: dict[str, array[int]] = {}
        self._inode = self._begin = self._end = 0

    def refresh(self) -> set[str]:
        """Takes in what was appended; the batches that it belongs to."""
        try:
            state = self._path.stat()
        except OSError:
            state = None
        if state is None or not stat.S_ISREG(state.st_mode):
            self._begin_anew(0, 0)
            return set()
        if state.st_ino != self._inode or state.st_size < self._end:
            self._begin_anew(state.st_ino, state.st_size)
            return set()
        return self._append(state.st_size) if state.st_size > self._end else set()

    def extend(self) -> bool:
        """Looks further back; False where there is nothing more."""
        if not self._begin:
            return False
        start, block = self._begin, b""
        # Its last byte ends the line that was met last. What stands before the first end but that began further back.
        while start and b"\n" not in block[:-1]:
            at = max(0, start - _BLOCK)
            block = self._read(at, start) + block
            start = at
        skip = block.find(b"\n") + 1 if start else 0
        found: dict[str, array[int]] = {}
        for batch_id, offset in self._lines(block[skip:], start + skip):
            found.setdefault(batch_id, array("Q")).append(offset)
        for batch_id, offsets in found.items():
            self._of[batch_id] = offsets + self._of.get(batch_id, array("Q"))
        self._begin = start + skip
        return True

    def of(self, batch_id: str) -> array[int]:
        """Where its lines begin, of those that were met so far, the oldest first."""
        return self._of.get(batch_id, array("Q"))

    def lines(self, offsets: array[int]) -> Iterator[bytes]:
        try:
            with self._path.open("rb") as file:
                for offset in offsets:
                    file.seek(offset)
                    yield file.readline()
        except OSError:
            return

    def _begin_anew(self, inode: int, size: int) -> None:
        """At the end of the last line: one that is being written has no end yet, and is read when it has one."""
        if inode == self._inode == 0:
            return
        self._of, self.unreadable = {}, 0
        self.generation += 1
        self._inode, self._begin, self._end = inode, size, size
        while self._end:
            start = max(0, self._end - _BLOCK)
            found = self._read(start, self._end).rfind(b"\n")
            self._begin = self._end = start + found + 1 if found >= 0 else start
            if found >= 0:
                return

    def _append(self, size: int) -> set[str]:
        block = self._read(self._end, size)
        whole = block[: block.rfind(b"\n") + 1]
        changed = set()
        for batch_id, offset in self._lines(whole, self._end):
            self._of.setdefault(batch_id, array("Q")).append(offset)
            changed.add(batch_id)
        self._end += len(whole)
        return changed

    def _lines(self, block: bytes, offset: int) -> Iterator[tuple[str, int]]:
        for line in block.split(b"\n"):
            if line:
                named = _BATCH.search(line)
                if named is None:
                    self.unreadable += 1
                else:
                    yield named[1].decode("ascii"), offset
            offset += len(line) + 1

    def _read(self, start: int, end: int) -> bytes:
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(start)
                return file.read(end - start)
        except OSError:
            return b""
