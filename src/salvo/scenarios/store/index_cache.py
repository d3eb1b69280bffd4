"""A cache of `history.jsonl` in a SQLite database, so that one batch is read without reading the others.

It can be deleted at any time. Each update reads only the lines that were appended since the last one, or the whole file
if that was replaced. Several processes and threads may use it. A process that cannot use the database, because it is
damaged, locked or not writable, keeps one in memory instead.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, TypeVar

from salvo.engine.runtime.files import create_private, make_folder, open_regular, write
from salvo.scenarios.store.index import parse_batch_id

T = TypeVar("T")

_VERSION = 1
_SCHEMA = (
    "DROP TABLE IF EXISTS source",
    "DROP TABLE IF EXISTS lines",
    "CREATE TABLE source (generation INTEGER, size INTEGER, modified INTEGER, offset INTEGER, fingerprint TEXT)",
    "CREATE TABLE lines (position INTEGER PRIMARY KEY, batch_id TEXT, line BLOB)",
    "CREATE INDEX lines_by_batch ON lines (batch_id, position)",
    f"PRAGMA user_version = {_VERSION}",
)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PATIENCE = 5.0
"""Seconds to wait while another process updates the database."""
_SAMPLE = 4096
"""Bytes at the beginning of the file and before the offset that show whether it is still the same file."""
_LONGEST_LINE = 10_000_000


class IndexCache:
    def __init__(self, history: Path) -> None:
        self.generation = 0
        """Changes when the file was replaced. Positions of two generations cannot be compared."""
        self._history = history
        self._path = history.parent / "cache" / "index.sqlite3"
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, ...] | None = None
        self._lock = RLock()

    def refresh(self) -> None:
        """Bring the cache up to date. If the file has not changed, this takes one call of `stat`."""
        with self._lock:
            state = _state(self._history)
            if state != self._seen:
                self._attempt(self._update)
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
        with self._lock:
            self.refresh()
            return self._attempt(lambda database: database.execute(sql, parameters).fetchall())

    def _attempt(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the database, or with one in memory if this one cannot be used."""
        try:
            if self._connection is None:
                self._connection = self._connect(self._path if self._history.is_file() else None)
            return action(self._connection)
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            if not isinstance(error, OSError) and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY:
                self._delete()  # it is damaged: the next process makes a new one
            self._connection = self._connect(None)
            self._update(self._connection)
            return action(self._connection)

    def _connect(self, path: Path | None) -> sqlite3.Connection:
        if path is not None:
            self._make_folder(path)
        connection = sqlite3.connect(
            path or ":memory:", timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, connection.close)
        connection.execute("PRAGMA synchronous = OFF")  # nothing is lost with a cache
        if not _has_schema(connection):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in () if _has_schema(connection) else _SCHEMA:
                    connection.execute(statement)
        return connection

    def _delete(self) -> None:
        for name in (self._path.name, f"{self._path.name}-journal"):
            with suppress(OSError):
                self._path.with_name(name).unlink()

    def _make_folder(self, path: Path) -> None:
        if not path.parent.exists():
            make_folder(path.parent)
            with suppress(FileExistsError):  # another process was faster
                write(path.parent / ".gitignore", b"*\n")
        # The store may come from someone else: a link must not make this write to another place.
        store = os.path.realpath(self._history.parent)
        if os.path.realpath(path) != os.fspath(Path(store, path.parent.name, path.name)):
            raise PermissionError(f"{path} leads out of the store")
        create_private(path)  # its journal gets the same mode

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


def _has_schema(database: sqlite3.Connection) -> bool:
    return bool(database.execute("PRAGMA user_version").fetchone() == (_VERSION,))


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
