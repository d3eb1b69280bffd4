"""A SQLite database with what can be made again at any time. It can be deleted.

Several processes and threads may use it. A process that cannot use the file, because it is damaged, locked or not
writable, keeps a database in memory instead.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from salvo.engine.runtime.files import create_private, make_folder, write

T = TypeVar("T")

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PATIENCE = 5.0
"""Seconds to wait while another process updates the database."""


class CacheDatabase:
    def __init__(
        self,
        path: Path,
        store: Path,
        schema: Sequence[str],
        version: int,
        *,
        in_file: Callable[[], bool] = lambda: True,
        refill: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> None:
        """`store` is the folder that the path must not lead out of. `refill` fills a database that is new in memory."""
        self.lock = RLock()
        self._path = path
        self._store = store
        self._schema = (*schema, f"PRAGMA user_version = {version}")
        self._version = version
        self._in_file = in_file
        self._refill = refill
        self._connection: sqlite3.Connection | None = None

    def query(self, sql: str, *parameters: object) -> list[Any]:
        return self.run(lambda database: database.execute(sql, parameters).fetchall())

    def write(self, statements: Iterable[tuple[str, Sequence[object]]]) -> None:
        """Execute these statements in one transaction."""
        prepared = list(statements)

        def execute(database: sqlite3.Connection) -> None:
            with database:
                database.execute("BEGIN IMMEDIATE")
                for sql, parameters in prepared:
                    database.execute(sql, parameters)

        if prepared:
            self.run(execute)

    def run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the database, or with one in memory if this one cannot be used."""
        with self.lock:
            try:
                if self._connection is None:
                    self._connection = self._connect(self._path if self._in_file() else None)
                return action(self._connection)
            except (sqlite3.Error, OSError, TypeError, ValueError) as error:
                if not isinstance(error, OSError) and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY:
                    self._delete()  # it is damaged: the next process makes a new one
                self._connection = self._connect(None)
                self._refill(self._connection)
                return action(self._connection)

    def _connect(self, path: Path | None) -> sqlite3.Connection:
        if path is not None:
            self._make_folder(path)
        connection = sqlite3.connect(
            path or ":memory:", timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, connection.close)
        connection.execute("PRAGMA synchronous = OFF")  # nothing is lost with a cache
        if not self._has_schema(connection):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in () if self._has_schema(connection) else self._schema:
                    connection.execute(statement)
        return connection

    def _has_schema(self, database: sqlite3.Connection) -> bool:
        return bool(database.execute("PRAGMA user_version").fetchone() == (self._version,))

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
        store = os.path.realpath(self._store)
        if os.path.realpath(path) != os.fspath(Path(store, path.parent.name, path.name)):
            raise PermissionError(f"{path} leads out of the store")
        create_private(path)  # its journal gets the same mode
