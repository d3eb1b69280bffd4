"""The store that the commands use: the one in DATABASE_URL, or a file in the current folder."""

from __future__ import annotations

import os
from pathlib import Path

from salvo.engine.runtime.clock import SystemClock
from salvo.errors import NothingFoundError, UnknownIdError, UsageError
from salvo.playbooks.audit.head_key import ReadKey, head_key_reader
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.location import database_url
from salvo.playbooks.store.records import StoredEvaluation
from salvo.playbooks.store.store import EvaluationStore


def open_store(*, make: bool = False, read_key: ReadKey | None = None) -> EvaluationStore:
    """Open the store. Without `make`, raise UnknownIdError if there is no database yet.

    `read_key` returns the key that signs new entries of the audit log, if it is another than usual.
    """
    read_key = read_key or head_key_reader(os.environ, Path.home())
    return EvaluationStore.open(database_url(os.environ, Path.cwd()), SystemClock(), make=make, read_key=read_key)


def open_for_listing() -> EvaluationStore:
    """Open the store for a command that takes no id. Raise NothingFoundError if there is no database yet."""
    try:
        return open_store()
    except UnknownIdError as error:
        raise NothingFoundError(error.message, hint=error.hint) from error


def load_report(store: EvaluationStore, name: str) -> tuple[StoredEvaluation, Report]:
    """Load an evaluation by its id, a prefix of it, or "latest". Raise UsageError if it has no report."""
    stored = store.load(store.find(name))
    if stored.report is None:
        raise UsageError(
            f"The evaluation {stored.id} has no report: it is {stored.state}.",
            hint="`byop history` lists the evaluations that have one.",
        )
    return stored, stored.report
