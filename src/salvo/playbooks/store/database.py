"""A SQLite or PostgreSQL database: connections, transactions and migrations."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.files import create_private
from salvo.engine.text.messages import install_hint
from salvo.errors import StoreError
from salvo.playbooks.store.errors import store_error
from salvo.playbooks.store.location import REVISION, VERSION_TABLE
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.queueing.notifications import ChangeListener

TIMEOUT = 30
"""Seconds to wait for another process that writes, or for a server that does not answer."""

_TRIES_PER_SECOND = 20
_LOCK = 0x62796F70  # "byop", the PostgreSQL lock for appending to the audit log and for migrations
_WRITES = "byop_writes"


class Database:
    def __init__(self, url: str, *, hide_place: bool = False, **options: Any) -> None:
        """`options` are execution options of the write transactions. With `hide_place`, errors do not name the place:
        who uses the page need not know the folders of the server.
        """
        self._hide_place = hide_place
        self._write_options = {_WRITES: True, **options}
        self._url = _usable(url)
        self._sqlite = self._url.get_backend_name() == "sqlite"
        # SQLite allows one writer at a time: threads queue here instead of polling the file.
        self._write_lock = threading.Lock() if self._sqlite else nullcontext()
        self._engine = _engine(self._url)
        self._make_later = False
        self._make_lock = threading.RLock()

    @property
    def place(self) -> str:
        """The location for messages: a path, or a server and a database; never a password."""
        if self._sqlite:
            return str(self._url.database)
        return f"the database {self._url.database or ''} at {self._url.host or 'the local server'}"

    @property
    def name_in_errors(self) -> str:
        return "the database" if self._hide_place else self.place

    @property
    def is_new(self) -> bool:
        """Whether the file does not exist yet."""
        return self._sqlite and not _is_uri(self._url) and not Path(str(self._url.database)).exists()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read transaction, which sees one state of the database."""
        self._make_if_needed()
        with self._translated_errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Connection]:
        """Open a write transaction. With `alone`, no other process has such a transaction at the same time."""
        self._make_if_needed()
        writer = self._engine.execution_options(**self._write_options)
        with self._translated_errors(), self._write_lock, writer.begin() as connection:
            if alone and not self._sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection

    def listen(self, on_change: Callable[[str, str], None]) -> ChangeListener | None:
        """Call the function with the channel and message of each notification; None where the database sends none."""
        return None if self._sqlite else ChangeListener(self._engine, on_change)

    def forget(self) -> None:
        """Remove deleted content from SQLite's log, where it would stay until the next checkpoint."""
        if self._sqlite:
            with self._translated_errors():
                self._pragma("wal_checkpoint(TRUNCATE)")

    def make_when_needed(self) -> None:
        """Create the file only when something is read or written, so that an unused store leaves no file."""
        self._make_later = True

    def _make_if_needed(self) -> None:
        with self._make_lock:  # other threads wait here; this thread enters again while it makes the tables
            if not self._make_later:
                return
            self._make_later = False
            try:
                self.bring_up_to_date()
            except BaseException:
                self._make_later = True
                raise

    def bring_up_to_date(self) -> None:
        """Create or migrate the tables if necessary. Several processes may do this at once."""
        with self.reading() as connection:
            if _revision(connection) == REVISION:
                return
        if self._sqlite:
            self._enable_wal()
        with self.writing(alone=True) as connection:
            # Another process may have done it in the meantime.
            if _revision(connection) != REVISION:
                from salvo.playbooks.store import schema_upgrade  # Alembic is slow to import; few commands migrate

                schema_upgrade.migrate(connection, _revision(connection), self.name_in_errors)

    def _enable_wal(self) -> None:
        """Enable write-ahead logging, so that readers and a writer do not block each other. The file keeps it."""
        for tries_left in reversed(range(TIMEOUT * _TRIES_PER_SECOND + 1)):
            try:
                self._pragma("journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or not tries_left:
                    raise self._store_error(error) from error
                # SQLite waits for other locks, but not for this one.
                threading.Event().wait(1 / _TRIES_PER_SECOND)
            else:
                return

    def _pragma(self, statement: str) -> None:
        """Run it outside of any transaction, which only the driver's own connection can do."""
        with self._write_lock, self._engine.connect() as connection:
            connection.connection.cursor().execute(f"PRAGMA {statement}").fetchall()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            translated = self._store_error(error)
            if translated is error:
                raise
            raise translated from error

    def _store_error(self, error: SQLAlchemyError | sqlite3.Error) -> Exception:
        return store_error(error, self.name_in_errors, for_page=self._hide_place)


class DatabaseStore:
    """Reads and writes some tables of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def _now(self) -> str:
        """Return the time as the tables store it."""
        return as_stored(self._clock.now())


class OwnerStore(DatabaseStore):
    """Does so for a process, whose name `owner` stands in the leases of the evaluations that it runs."""

    def __init__(self, database: Database, clock: Clock, owner: str) -> None:
        super().__init__(database, clock)
        self._owner = owner


def _usable(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        # The URL is not shown, because it may contain a password.
        raise StoreError(
            "DATABASE_URL is not the address of a database.",
            hint="It looks like sqlite:///byop_runs.db or postgresql+psycopg://user:password@host/name.",
        ) from error
    kind = parsed.get_backend_name() if parsed.drivername != "postgres" else "postgresql"
    if kind == "postgresql":
        if find_spec("psycopg") is None:
            raise StoreError(
                "DATABASE_URL names a PostgreSQL database, but its driver is not installed.",
                hint=install_hint("postgresql"),
            )
        return parsed.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise StoreError(
            f"DATABASE_URL names a database of type {kind}, which Salvo does not support.",
            hint="Use sqlite:///… or postgresql+psycopg://….",
        )
    if not parsed.database or parsed.database == ":memory:":
        raise StoreError(
            "DATABASE_URL names a database in memory, which would be lost when the command ends.",
            hint="Name a file: sqlite:///byop_runs.db. To store nothing, use --no-store.",
        )
    if _is_uri(parsed):
        return parsed
    return parsed.set(drivername="sqlite", database=str(Path(parsed.database).absolute()))


def _is_uri(url: URL) -> bool:
    return str(url.database).startswith("file:")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        waits: dict[str, Any] = {"connect_timeout": TIMEOUT, "application_name": "salvo"}
        return create_engine(url, pool_pre_ping=True, pool_timeout=TIMEOUT, connect_args=waits, hide_parameters=True)
    # No limit on connections: a file has none either.
    engine = create_engine(url, max_overflow=-1, connect_args={"timeout": TIMEOUT}, hide_parameters=True)
    event.listen(engine, "do_connect", _create_file)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _create_file(_dialect: object, _entry: object, arguments: list[Any], _parameters: object) -> None:
    # For its owner alone. SQLite gives its log (-wal) and index (-shm) the mode of the file.
    path = _new_file(str(arguments[0]))
    if path is not None:
        with suppress(OSError):  # SQLite says what is wrong
            create_private(path)


def _new_file(name: str) -> Path | None:
    """Return the file that SQLite would create for a name or a URI; None for a URI that creates no file."""
    if not name.startswith("file:"):
        return Path(name)
    location, _, query = name.removeprefix("file:").partition("#")[0].partition("?")
    if location.startswith("//"):
        location = location[2:].removeprefix("localhost")
    parameters = dict(part.partition("=")[::2] for part in query.split("&"))
    if not location or location == ":memory:" or parameters.get("mode", "rwc") != "rwc":
        return None
    decoded = _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), location.encode("utf-8", "surrogateescape"))
    return Path(os.fsdecode(decoded))


_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def _prepare(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # Transactions are begun explicitly: the driver's own would begin too late to read and then write in one.
    connection.isolation_level = None
    connection.text_factory = _decode
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")


def _decode(value: bytes) -> str | bytes:
    """Return the text of a column. Bytes that are no text are returned as they are, so one row hides no other."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _revision(connection: Connection) -> str | None:
    """Return the stored revision, or None for a database without our tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
