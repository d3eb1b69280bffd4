"""The store that the commands use: what DATABASE_URL names, or the file in the current folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from salvo.playbooks.store.store import EvaluationStore


def open_store(*, make: bool = False) -> EvaluationStore:
    """Without `make`, a file that is not there is not made: UnknownIdError says that nothing is stored."""
    from salvo.engine.runtime.clock import SystemClock
    from salvo.playbooks.store.location import database_url
    from salvo.playbooks.store.store import EvaluationStore

    return EvaluationStore.open(database_url(os.environ, Path.cwd()), SystemClock(), make=make)


def open_for_listing() -> EvaluationStore:
    """The same, for commands that need no id: nothing to list is nothing found."""
    from salvo.errors import NothingFoundError, UnknownIdError

    try:
        return open_store()
    except UnknownIdError as nothing:
        raise NothingFoundError(nothing.message, hint=nothing.hint) from nothing
