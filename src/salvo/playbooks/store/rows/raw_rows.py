"""Rows as they are in the tables, for verification: no value is converted, and no table is joined."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from salvo.playbooks.store import tables
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.records import RawRow, RawRows


def load(connection: Connection, evaluation_id: str) -> RawRows:
    evaluation = _first(_rows(connection, tables.evaluations, id=evaluation_id))
    baseline = _first(_rows(connection, tables.baselines, evaluation_id=evaluation_id))
    used = [] if evaluation is None else _rows(connection, tables.playbooks, logic_hash=evaluation["playbook_hash"])
    vote_rows = tuple(_rows(connection, tables.votes, evaluation_id=evaluation_id))
    review_rows = tuple(_rows(connection, tables.reviews, evaluation_id=evaluation_id))
    of_reviews = select(tables.reviews.c.event_id).where(tables.reviews.c.evaluation_id == evaluation_id)
    about_reviews = tables.review_texts.c.event_id.in_(of_reviews)
    texts = connection.execute(select(*map(_raw, tables.review_texts.c)).where(about_reviews))
    text_rows = tuple(dict(row) for row in texts.mappings())
    document = _first(_rows(connection, tables.documents, evaluation_id=evaluation_id))
    links = tuple(_rows(connection, tables.share_links, evaluation_id=evaluation_id))
    return RawRows(evaluation, _first(used), vote_rows, baseline, document, review_rows, text_rows, links)


def _first(rows: list[RawRow]) -> RawRow | None:
    return rows[0] if rows else None


def list_playbooks(connection: Connection) -> list[RawRow]:
    return _rows(connection, tables.playbooks)


def list_batches(connection: Connection) -> list[RawRow]:
    return _rows(connection, tables.batches)


def list_playbook_versions(connection: Connection) -> list[RawRow]:
    return _rows(connection, tables.playbook_versions)


def list_users(connection: Connection) -> list[RawRow]:
    """Return the users without the hashes of their passwords, which verify nothing and belong in no message."""
    columns = [_raw(column) for column in tables.users.c if column.name != "password_hash"]
    return [dict(row) for row in connection.execute(select(*columns)).mappings()]


def list_ids(connection: Connection) -> list[str]:
    return [evaluation_id for evaluation_id in _all_ids(connection) if isinstance(evaluation_id, str)]


def _all_ids(connection: Connection) -> list[Any]:
    return list(connection.scalars(select(_raw(tables.evaluations.c.id)).order_by(tables.evaluations.c.id)))


def list_orphans(connection: Connection) -> list[tuple[str, str]]:
    """Return the tables and ids of rows about what is not stored, or whose id is no text."""
    stored = select(tables.evaluations.c.id)
    no_texts = [evaluation_id for evaluation_id in _all_ids(connection) if not isinstance(evaluation_id, str)]
    references = [
        (table, table.c.evaluation_id, stored)
        for table in (tables.votes, tables.baselines, tables.documents, tables.reviews, tables.share_links)
    ]
    references.append((tables.review_texts, tables.review_texts.c.event_id, select(tables.reviews.c.event_id)))
    return [(tables.evaluations.name, str(as_logged(evaluation_id))) for evaluation_id in no_texts] + [
        (table.name, str(as_logged(name)))
        for table, column, existing in references
        for name in connection.scalars(select(_raw(column)).where(column.not_in(existing)).distinct())
    ]


def _rows(connection: Connection, table: Table, **values: Any) -> list[RawRow]:
    query = select(*map(_raw, table.c)).where(*(table.c[name] == value for name, value in values.items()))
    return [dict(row) for row in connection.execute(query).mappings()]


def _raw(column: Any) -> Any:
    return type_coerce(column, NullType()).label(column.name)
