"""Rows as they are in the tables, for verification: no value is converted, and no table is joined."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.records import RawRow, RawRows
from salvo.playbooks.store.tables import (
    baselines,
    batches,
    documents,
    evaluations,
    playbook_versions,
    playbooks,
    review_texts,
    reviews,
    share_links,
    votes,
)


def load(connection: Connection, evaluation_id: str) -> RawRows:
    evaluation = _first(_rows(connection, evaluations, id=evaluation_id))
    baseline = _first(_rows(connection, baselines, evaluation_id=evaluation_id))
    used = [] if evaluation is None else _rows(connection, playbooks, logic_hash=evaluation["playbook_hash"])
    vote_rows = tuple(_rows(connection, votes, evaluation_id=evaluation_id))
    review_rows = tuple(_rows(connection, reviews, evaluation_id=evaluation_id))
    of_reviews = select(reviews.c.event_id).where(reviews.c.evaluation_id == evaluation_id)
    texts = connection.execute(select(*map(_raw, review_texts.c)).where(review_texts.c.event_id.in_(of_reviews)))
    text_rows = tuple(dict(row) for row in texts.mappings())
    document = _first(_rows(connection, documents, evaluation_id=evaluation_id))
    links = tuple(_rows(connection, share_links, evaluation_id=evaluation_id))
    return RawRows(evaluation, _first(used), vote_rows, baseline, document, review_rows, text_rows, links)


def _first(rows: list[RawRow]) -> RawRow | None:
    return rows[0] if rows else None


def list_playbooks(connection: Connection) -> list[RawRow]:
    return _rows(connection, playbooks)


def list_batches(connection: Connection) -> list[RawRow]:
    return _rows(connection, batches)


def list_playbook_versions(connection: Connection) -> list[RawRow]:
    return _rows(connection, playbook_versions)


def list_ids(connection: Connection) -> list[str]:
    return [evaluation_id for evaluation_id in _all_ids(connection) if isinstance(evaluation_id, str)]


def _all_ids(connection: Connection) -> list[Any]:
    return list(connection.scalars(select(_raw(evaluations.c.id)).order_by(evaluations.c.id)))


def list_orphans(connection: Connection) -> list[tuple[str, str]]:
    """Return the tables and ids of rows about what is not stored, or whose id is no text."""
    stored = select(evaluations.c.id)
    no_texts = [evaluation_id for evaluation_id in _all_ids(connection) if not isinstance(evaluation_id, str)]
    references = [
        (table, table.c.evaluation_id, stored) for table in (votes, baselines, documents, reviews, share_links)
    ]
    references.append((review_texts, review_texts.c.event_id, select(reviews.c.event_id)))
    return [(evaluations.name, str(as_logged(evaluation_id))) for evaluation_id in no_texts] + [
        (table.name, str(as_logged(name)))
        for table, column, existing in references
        for name in connection.scalars(select(_raw(column)).where(column.not_in(existing)).distinct())
    ]


def _rows(connection: Connection, table: Table, **values: Any) -> list[RawRow]:
    query = select(*map(_raw, table.c)).where(*(table.c[name] == value for name, value in values.items()))
    return [dict(row) for row in connection.execute(query).mappings()]


def _raw(column: Any) -> Any:
    return type_coerce(column, NullType()).label(column.name)
