"""Which evaluations are older than they are kept. `EvaluationStore.delete` erases them."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, RowMapping, select

from salvo.errors import DamagedEvaluationError
from salvo.playbooks.store.queueing.queue import LEASE_COLUMNS
from salvo.playbooks.store.records import State
from salvo.playbooks.store.tables import baselines, evaluations
from salvo.records import record

_OPEN = (State.RUNNING, State.QUEUED, State.BATCHED)


@record
class OldEvaluation:
    id: str
    created_at: str
    subject: str
    is_baseline: bool
    is_open: bool
    """Whether it runs, or waits for its turn or for a provider's batch."""


def list_before(connection: Connection, before: str, state: Callable[[RowMapping], State]) -> list[OldEvaluation]:
    """Return the evaluations that were started before this time, the oldest first."""
    columns = (evaluations.c.state, evaluations.c.created_at, evaluations.c.subject, baselines.c.saved_at)
    query = (
        select(*LEASE_COLUMNS, *columns)
        .outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id)
        .where(evaluations.c.created_at < before)
        .order_by(evaluations.c.created_at, evaluations.c.id)
    )
    return [
        OldEvaluation(
            str(row["id"]),
            str(row["created_at"]),
            str(row["subject"]),
            row["saved_at"] is not None,
            _is_open(row, state),
        )
        for row in connection.execute(query).mappings()
    ]


def _is_open(row: RowMapping, state: Callable[[RowMapping], State]) -> bool:
    try:
        return state(row) in _OPEN
    except DamagedEvaluationError:
        return False
