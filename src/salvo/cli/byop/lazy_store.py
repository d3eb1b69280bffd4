"""A store that is opened when it is first used."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from salvo.playbooks.audit.head_key import read_head_key
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.store.location import can_wait, database_url

if TYPE_CHECKING:
    from salvo.playbooks.store.store import EvaluationStore


def open_store_late(*, make: bool = False) -> EvaluationStore:
    from salvo.cli.byop.database import open_store  # SQLAlchemy takes longer to import than a model to answer

    return open_store(make=make)


class LazyStore:
    """Opens the store while the first questions are on their way, and closes it at the end of the command.

    Closing matters: until then SQLite keeps the newest data in a second file, so a copy of the database alone would
    lack the evaluation that was just stored.
    """

    def __init__(self, *, hashes_only: bool = False) -> None:
        self.group: str | None = None
        """The first id of the evaluations that run together."""
        self.in_full = not hashes_only
        self._opening = threading.Lock()
        self._store: EvaluationStore | None = None
        read_head_key(os.environ, Path.home())  # report an unusable key before anything is paid for
        if not can_wait(database_url(os.environ, Path.cwd())):
            self.store().check_writable()  # report a problem before anything is paid for

    def store(self) -> EvaluationStore:
        with self._opening:
            if self._store is None:
                self._store = open_store_late(make=True)
        return self._store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    def recorder(self, settings: Mapping[str, Any]) -> StoreRecorder:
        return StoreRecorder(self.store(), in_full=self.in_full, group=self.group, settings=settings)
