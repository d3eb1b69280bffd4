"""Reports on the same text: by several evaluators of one command, or by others again."""

from __future__ import annotations

from sqlalchemy import Connection, RowMapping, or_, select

from salvo.playbooks.store.records import State
from salvo.playbooks.store.tables import evaluations

_ROW = evaluations.c


def list_ids(connection: Connection, row: RowMapping) -> list[str]:
    """Return the ids of the reports of the row's group with the same texts and playbook, the oldest first.

    A group has the id of its first evaluation, or that of a batch of documents.
    """
    names = [name for name in (row["id"], row["group_id"]) if name is not None]
    query = (
        select(_ROW.id)
        .where(or_(_ROW.id.in_(names), _ROW.group_id.in_(names)))
        .where(_ROW.state == State.DONE, _ROW.playbook_hash == row["playbook_hash"])
        .where(_ROW.inputs_fingerprint == row["inputs_fingerprint"])
        .order_by(_ROW.id)
    )
    return list(connection.scalars(query))
