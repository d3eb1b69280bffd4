"""Changes of the row of an evaluation, with their entries in the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, update

from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.queueing import notifications
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.rows import audit_entries, votes
from salvo.playbooks.store.tables import NOT_EVIDENCE, evaluations

_COORDINATION = NOT_EVIDENCE[evaluations.name]


def update_evaluation(connection: Connection, evaluation_id: str, now: datetime, **changes: Any) -> None:
    """Change columns of the row, and tell those who watch it."""
    values = {"touched_at": as_stored(now), **changes}
    connection.execute(update(evaluations).where(evaluations.c.id == evaluation_id).values(values))
    notifications.evaluation_changed(connection, evaluation_id)


def change_state(
    connection: Connection, evaluation_id: str, action: str, now: datetime, *, user: str | None = None, **changes: Any
) -> None:
    """Change the row, and record that, the votes so far and the user who asked for it, if they are logged in.

    Only in an exclusive transaction.
    """
    update_evaluation(connection, evaluation_id, now, **changes)
    columns = audit_log.hash_long_columns(
        {name: str(value) if name == "state" else value for name, value in changes.items() if name not in _COORDINATION}
    )
    details = {"columns": columns, "raw_runs": votes.raw_runs(connection, evaluation_id), **audit_log.who(user)}
    audit_entries.append(connection, audit_log.content(action, evaluation_id, None, at=as_stored(now), **details))
