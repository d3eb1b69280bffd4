"""Rows as they are in the tables, for verification: no value is converted, and no table is joined."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.records import RawRow, RawRows
from salvo.playbooks.store.tables import baselines, evaluations, playbooks, votes


def load(connection: Connection, evaluation_id: str) -> RawRows:
    evaluation = _first(_rows(connection, evaluations, id=evaluation_id))
    baseline = _first(_rows(connection, baselines, evaluation_id=evaluation_id))
    used = [] if evaluation is None else _rows(connection, playbooks, logic_hash=evaluation["playbook_hash"])
    vote_rows = tuple(_rows(connection, votes, evaluation_id=evaluation_id))
    return RawRows(evaluation, _first(used), vote_rows, baseline)


def _first(rows: list[RawRow]) -> RawRow | None:
    return rows[0] if rows else None


def list_playbooks(connection: Connection) -> list[RawRow]:
    return _rows(connection, playbooks)


def list_ids(connection: Connection) -> list[str]:
    return [evaluation_id for evaluation_id in _all_ids(connection) if isinstance(evaluation_id, str)]


def _all_ids(connection: Connection) -> list[Any]:
    return list(connection.scalars(select(_raw(evaluations.c.id)).order_by(evaluations.c.id)))


def list_orphans(connection: Connection) -> list[tuple[str, str]]:
    """Return the tables and ids of rows about evaluations that are not stored, or whose id is no text."""
    stored = select(evaluations.c.id)
    no_texts = [evaluation_id for evaluation_id in _all_ids(connection) if not isinstance(evaluation_id, str)]
    return [(evaluations.name, str(as_logged(evaluation_id))) for evaluation_id in no_texts] + [
        (table.name, str(as_logged(evaluation_id)))
        for table in (votes, baselines)
        for evaluation_id in connection.scalars(
            select(_raw(table.c.evaluation_id)).where(table.c.evaluation_id.not_in(stored)).distinct()
        )
    ]


def _rows(connection: Connection, table: Table, **values: Any) -> list[RawRow]:
    query = select(*map(_raw, table.c)).where(*(table.c[name] == value for name, value in values.items()))
    return [dict(row) for row in connection.execute(query).mappings()]


def _raw(column: Any) -> Any:
    return type_coerce(column, NullType()).label(column.name)
