"""Where evaluations are stored: known at once, opened when there is time for it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from salvo.playbooks.evaluate.recorder import StoreRecorder
    from salvo.playbooks.store.store import EvaluationStore


class LazyStore:
    """Where evaluations are stored: known at once, opened when there is time for it, and closed at the end.

    Until it is closed, what SQLite has written stands beside the file and not in it: a copy of the file alone would
    lack the very evaluation that was just made.
    """

    def __init__(self, *, hashes_only: bool = False) -> None:
        from salvo.playbooks.store.location import can_wait, database_url

        self.group: str | None = None
        """What is evaluated together, by the first id among them."""
        self._in_full = not hashes_only
        self._opening = threading.Lock()
        self._store: EvaluationStore | None = None
        if not can_wait(database_url(os.environ, Path.cwd())):
            self.store().check_writable()  # what is wrong with it is said before anything is paid for

    def store(self) -> EvaluationStore:
        from salvo.cli.byop.database import open_store

        with self._opening:
            if self._store is None:
                self._store = open_store(make=True)
        return self._store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    def recorder(self) -> StoreRecorder:
        from salvo.playbooks.evaluate.recorder import StoreRecorder

        return StoreRecorder(self.store(), in_full=self._in_full, group=self.group)
