"""Tell other processes what changed, by LISTEN and NOTIFY. Only PostgreSQL has them; with SQLite, processes poll."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from salvo.errors import StoreError

_log = logging.getLogger(__name__)

EVALUATION_CHANNEL = "byop_evaluation"
"""Its messages are ids of evaluations that changed."""
QUEUE_CHANNEL = "byop_queue"
"""A message on it says that an evaluation waits for a server."""
_STOP_SECONDS = 0.5
"""How long closing a listener may take."""
_RECONNECT_SECONDS = 2.0


def evaluation_changed(connection: Connection, evaluation_id: str) -> None:
    """Tell others when the transaction is committed."""
    _notify(connection, EVALUATION_CHANNEL, evaluation_id)


def queue_changed(connection: Connection) -> None:
    _notify(connection, QUEUE_CHANNEL, "")


_NOTIFY = text("SELECT pg_notify(:channel, :message)")


def _notify(connection: Connection, channel: str, message: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(_NOTIFY, {"channel": channel, "message": message})


class ChangeListener:
    """Calls a function in a thread of its own with the channel and the message of each notification.

    A lost connection is opened again; what was sent in between is lost, so listeners also look from time to time.
    """

    def __init__(self, engine: Engine, on_change: Callable[[str, str], None]) -> None:
        self._engine = engine
        self._on_change = on_change
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="byop-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen_once()
            except (SQLAlchemyError, StoreError, OSError) as error:
                _log.warning("Notifications of the database are interrupted (%s).", type(error).__name__)
                self._stopping.wait(_RECONNECT_SECONDS)

    def _listen_once(self) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"LISTEN {EVALUATION_CHANNEL}"))
            connection.execute(text(f"LISTEN {QUEUE_CHANNEL}"))
            driver: Any = connection.connection.driver_connection
            try:
                while not self._stopping.is_set():
                    for notification in driver.notifies(timeout=_STOP_SECONDS):
                        self._on_change(notification.channel, notification.payload)
            except connection.dialect.loaded_dbapi.Error as error:
                connection.invalidate()
                raise StoreError("The connection was lost.") from error
            else:
                connection.detach()  # it must not be used again while it listens
