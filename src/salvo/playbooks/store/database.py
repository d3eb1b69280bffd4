"""One database: its connections, its transactions, and its tables brought up to date. SQLite or PostgreSQL."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from salvo.errors import StoreError
from salvo.playbooks.store.errors import NEWER, as_sentence
from salvo.playbooks.store.location import REVISION, VERSION_TABLE

PATIENCE = 30
"""Seconds to wait for another process that writes, or for a server that does not answer."""

_TRIES_A_SECOND = 20
_LOCK = 0x62796F70  # "byop": whoever appends to the log or changes the tables of a PostgreSQL database holds it
_WRITES = "byop_writes"


class Database:
    def __init__(self, url: str) -> None:
        self._url = _usable(url)
        self._sqlite = self._url.get_backend_name() == "sqlite"
        # SQLite lets one write at a time: threads queue up here, instead of polling for the file.
        self._turn = threading.Lock() if self._sqlite else nullcontext()
        self._engine = _engine(self._url)
        self._awaits_need = self._is_making = self._is_made = False
        self._making = threading.RLock()

    @property
    def place(self) -> str:
        """As people are shown it: a path, or a server and a database; never a password."""
        if self._sqlite:
            return str(self._url.database)
        return f"The database {self._url.database or ''} at {self._url.host or 'the local server'}"

    @property
    def is_new(self) -> bool:
        """Whether there is nothing to open yet: a file that would have to be made."""
        return self._sqlite and not _is_uri(self._url) and not Path(str(self._url.database)).exists()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Everything that is read inside was so at one moment."""
        self._make_if_needed()
        with self._in_sentences(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Connection]:
        """All or nothing. `alone`: after every other process that asked for it, and before the next."""
        self._make_if_needed()
        writer = self._engine.execution_options(**{_WRITES: True})
        with self._in_sentences(), self._turn, writer.begin() as connection:
            if alone and not self._sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection

    def forget(self) -> None:
        """Leaves nothing of what was deleted in SQLite's log, where it would stay until the next checkpoint."""
        if self._sqlite:
            with self._in_sentences():
                self._pragma("wal_checkpoint(TRUNCATE)")

    def make_when_needed(self) -> None:
        """Whoever reads or writes first makes the file: merely to look at something else, none is left behind."""
        self._awaits_need = True

    def _make_if_needed(self) -> None:
        if not self._awaits_need:
            return
        with self._making:  # the others wait here; who makes it comes by again, and goes on
            if self._is_made or self._is_making:
                return
            self._is_making = True
            try:
                self.bring_up_to_date()
                self._is_made = True
            finally:
                self._is_making = False

    def bring_up_to_date(self) -> None:
        """Makes the tables, or changes them, unless they are what this version knows; in many processes at once."""
        with self.reading() as connection:
            if _revision(connection) == REVISION:
                return
        if self._sqlite:
            self._keep_a_log()
        with self.writing(alone=True) as connection:
            # Whoever came first may have done it meanwhile.
            if _revision(connection) != REVISION:
                _migrate(connection, self.place)

    def _keep_a_log(self) -> None:
        """Write-ahead logging: readers and a writer do not wait for each other. The file remembers it."""
        for left in reversed(range(PATIENCE * _TRIES_A_SECOND + 1)):
            try:
                self._pragma("journal_mode = WAL")
            except sqlite3.OperationalError as fault:
                if fault.sqlite_errorcode != sqlite3.SQLITE_BUSY or not left:
                    raise as_sentence(fault, self.place) from fault
                # SQLite waits for locks by itself, but not for this one.
                threading.Event().wait(1 / _TRIES_A_SECOND)
            else:
                return

    def _pragma(self, words: str) -> None:
        """Outside of any transaction, which only the driver's own connection can do."""
        with self._turn, self._engine.connect() as connection:
            connection.connection.cursor().execute(f"PRAGMA {words}").fetchall()

    @contextmanager
    def _in_sentences(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as fault:
            said = as_sentence(fault, self.place)
            if said is fault:
                raise
            raise said from fault


def _usable(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as fault:
        # Not shown: what cannot be parsed may have a password anywhere.
        raise StoreError(
            "DATABASE_URL is not the address of a database.",
            hint="It looks like sqlite:///byop_runs.db or postgresql+psycopg://user:password@host/name.",
        ) from fault
    kind = parsed.get_backend_name() if parsed.drivername != "postgres" else "postgresql"
    if kind == "postgresql":
        return _for_server(parsed)
    if kind != "sqlite":
        raise StoreError(
            f"DATABASE_URL names a database of the kind {kind}, which Salvo does not use.",
            hint="Use sqlite:///… or postgresql+psycopg://….",
        )
    if not parsed.database or parsed.database == ":memory:":
        raise StoreError(
            "DATABASE_URL names a database in memory, which would be gone when the command ends.",
            hint="Name a file: sqlite:///byop_runs.db. To keep nothing, use --no-store.",
        )
    if _is_uri(parsed):
        return parsed
    return parsed.set(drivername="sqlite", database=str(Path(parsed.database).absolute()))


def _for_server(url: URL) -> URL:
    if find_spec("psycopg") is None:
        raise StoreError(
            "DATABASE_URL names a PostgreSQL database, and its driver is not installed.",
            hint="pip install 'salvo-ai[postgresql]'",
        )
    return url.set(drivername="postgresql+psycopg")


def _is_uri(url: URL) -> bool:
    return str(url.database).startswith("file:")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        waits: dict[str, Any] = {"connect_timeout": PATIENCE, "application_name": "salvo"}
        return create_engine(url, pool_pre_ping=True, pool_timeout=PATIENCE, connect_args=waits, hide_parameters=True)
    # As many connections as there are threads: a file has no limit of them.
    engine = create_engine(url, max_overflow=-1, connect_args={"timeout": PATIENCE}, hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # Transactions begin where we say so. The driver's own would begin too late to read and then write in one.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _revision(connection: Connection) -> str | None:
    """None for a database that was never ours."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 - a constant of ours
    return found.scalar()


def _migrate(connection: Connection, place: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    stored = _revision(connection)
    if stored is not None:
        try:
            ScriptDirectory.from_config(config).get_revision(stored)
        except CommandError as fault:
            raise StoreError(f"{place} was made by a newer version of Salvo.", hint=NEWER) from fault
    command.upgrade(config, "head")
