"""A cache of `history.jsonl` in a SQLite database, so that one batch is read without reading the others.

Each update reads only the lines that were appended since the last one, or the whole file if that was replaced.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from salvo.engine.runtime.files import open_regular
from salvo.scenarios.store.index import parse_batch_id
from salvo.scenarios.store.indexing.cache_database import CacheDatabase

_VERSION = 1
_SCHEMA = (
    "DROP TABLE IF EXISTS source",
    "DROP TABLE IF EXISTS lines",
    "CREATE TABLE source (generation INTEGER, size INTEGER, modified INTEGER, offset INTEGER, fingerprint TEXT)",
    "CREATE TABLE lines (position INTEGER PRIMARY KEY, batch_id TEXT, line BLOB)",
    "CREATE INDEX lines_by_batch ON lines (batch_id, position)",
)
_SAMPLE = 4096
"""Bytes at the beginning of the file and before the offset that show whether it is still the same file."""
_LONGEST_LINE = 10_000_000


class IndexCache:
    def __init__(self, history: Path) -> None:
        self.generation = 0
        """Changes when the file was replaced. Positions of two generations cannot be compared."""
        self._history = history
        self._database = CacheDatabase(
            history.parent / "cache" / "index.sqlite3",
            history.parent,
            _SCHEMA,
            _VERSION,
            in_file=history.is_file,
            refill=self._update,
        )
        self._seen: tuple[int, ...] | None = None

    def refresh(self) -> None:
        """Bring the cache up to date. If the file has not changed, this takes one call of `stat`."""
        with self._database.lock:
            state = _state(self._history)
            if state != self._seen:
                self._database.run(self._update)
                self._seen = state

    def lines(self, batch_id: str) -> list[tuple[int, bytes]]:
        """Return the lines of a batch, each with its position in the file, oldest first."""
        return self._query("SELECT position, line FROM lines WHERE batch_id = ? ORDER BY position", batch_id)

    def span(self, batch_id: str) -> tuple[int, int]:
        """Return the positions of the first and the last line of a batch, or the end of the file if it has none."""
        [(first, last)] = self._query("SELECT min(position), max(position) FROM lines WHERE batch_id = ?", batch_id)
        return (self.end(), self.end()) if first is None else (first, last)

    def end(self) -> int:
        """Return the position at which the next line begins."""
        return sum(offset for (offset,) in self._query("SELECT offset FROM source"))

    def batches_since(self, position: int) -> set[str]:
        """Return the batches that have lines from a position on."""
        rows = self._query("SELECT DISTINCT batch_id FROM lines WHERE position >= ? AND batch_id NOT NULL", position)
        return {batch_id for (batch_id,) in rows}

    def unreadable_since(self, position: int) -> int:
        """Return the number of lines from a position on that belong to no batch."""
        rows = self._query("SELECT position FROM lines WHERE batch_id IS NULL AND position >= ?", position)
        return len(rows)

    def _query(self, sql: str, *parameters: object) -> list[Any]:
        with self._database.lock:
            self.refresh()
            return self._database.query(sql, *parameters)

    def _update(self, database: sqlite3.Connection) -> None:
        with _open(self._history) as file:
            state = os.fstat(file.fileno())
            if self._is_current(database, file, state):
                return
            with database:
                database.execute("BEGIN IMMEDIATE")
                if self._is_current(database, file, state):  # another process was faster
                    return
                self._read(database, file, state)

    def _is_current(self, database: sqlite3.Connection, file: BinaryIO, state: os.stat_result) -> bool:
        self.generation, size, modified, offset, fingerprint = _source(database)
        unchanged = size == state.st_size and modified == state.st_mtime_ns
        return unchanged and fingerprint == _fingerprint(file, offset)

    def _read(self, database: sqlite3.Connection, file: BinaryIO, state: os.stat_result) -> None:
        """Add the lines that the database does not have."""
        generation, size, modified, offset, fingerprint = _source(database)
        edited = state.st_size == size and state.st_mtime_ns != modified
        if edited or state.st_size < offset or fingerprint != _fingerprint(file, offset):
            database.execute("DELETE FROM lines")
            generation, offset = generation + 1, 0
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                break  # it is still being written, or was cut short
            if content := line.strip():
                batch_id = parse_batch_id(content) if len(content) <= _LONGEST_LINE else None
                row = offset, batch_id, content if batch_id else b""
                database.execute("INSERT INTO lines VALUES (?, ?, ?)", row)
            offset += len(line)
        database.execute("DELETE FROM source")
        values = generation, state.st_size, state.st_mtime_ns, offset, _fingerprint(file, offset)
        database.execute("INSERT INTO source VALUES (?, ?, ?, ?, ?)", values)
        self.generation = generation


def _source(database: sqlite3.Connection) -> tuple[int, int, int, int, str]:
    row: tuple[int, int, int, int, str] | None = database.execute("SELECT * FROM source").fetchone()
    return row or (0, -1, 0, 0, "")


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return (state.st_ino, state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None


def _open(path: Path) -> BinaryIO:
    """Open a file. One that is missing, cannot be read or is no regular file has no lines."""
    with suppress(OSError):
        return open_regular(path)
    return Path(os.devnull).open("rb")


def _fingerprint(file: BinaryIO, offset: int) -> str:
    """Return a hash that changes when another file has taken its place, or what was read has changed."""
    sample = hashlib.sha256(str(os.fstat(file.fileno()).st_ino).encode())
    for start in (0, max(0, offset - _SAMPLE)):
        file.seek(start)
        sample.update(file.read(min(_SAMPLE, offset - start)))
    return sample.hexdigest()
