"""The list of evaluations: searched, filtered and sorted by an index, so that its length hardly matters.

Only the rows of one page are read. A search in texts looks for words in an index of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Select,
    bindparam,
    case,
    func,
    or_,
    select,
)

from salvo.playbooks.enums import Mode, ShownStatus
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.records import HistoryRow
from salvo.playbooks.store.rows import text_words
from salvo.playbooks.store.rows.evaluations import SHOWN_STATUS, select_fields
from salvo.playbooks.store.tables import documents, evaluations, playbooks
from salvo.records import record

_ROW = evaluations.c


class HistorySort(StrEnum):
    DATE = "date"
    TITLE = "title"
    SUBJECT = "subject"
    STATUS = "status"
    """By severity. Incomplete reports are below all others, and evaluations without a report below these."""


@record
class HistoryFilters:
    subject: str | None = None
    status: ShownStatus | None = None
    mode: Mode | None = None
    search: str = ""
    """A part of an id or a name, in upper or lower case."""
    in_texts: bool = False
    """Whether the search also finds evaluations whose texts have all of its words, whole or in part."""


EVERY_EVALUATION = HistoryFilters()


def list_rows(
    connection: Connection,
    filters: HistoryFilters,
    sort: HistorySort,
    *,
    descending: bool,
    limit: int | None,
    offset: int,
) -> tuple[list[RowMapping], int]:
    """Return the rows of one page, and how many there are on all pages together."""
    conditions = list(_conditions(connection, filters))
    order = [column.desc() if descending else column.asc() for column in _sort_columns(sort)]
    # First the ids alone, by an index; then the rows of the page.
    in_order = _matching(select(_ROW.id), sort).where(*conditions).order_by(*order)
    if filters.search:
        # Counting takes as long as searching, so the ids of all pages are read instead.
        matching = list(connection.scalars(in_order))
        total, ids = len(matching), matching[offset : None if limit is None else offset + limit]
    else:
        total = connection.scalar(_matching(select(func.count())).where(*conditions)) or 0
        ids = list(connection.scalars(in_order.limit(limit).offset(offset)))
    # With the type of the column: by default, the first value decides for all, and one that is damaged may be a blob.
    on_page = bindparam("ids_on_page", ids, type_=_ROW.id.type, expanding=True)
    rows = connection.execute(select_fields(HistoryRow).where(_ROW.id.in_(on_page))).mappings()
    by_id = {row["id"]: row for row in rows}
    return [by_id[evaluation_id] for evaluation_id in ids if evaluation_id in by_id], total


def _matching(query: Select[Any], sort: HistorySort = HistorySort.DATE) -> Select[Any]:
    """Select from what is sorted by, and nothing more."""
    tables: FromClause = evaluations
    if sort is HistorySort.TITLE:
        tables = tables.outerjoin(documents, documents.c.evaluation_id == _ROW.id)
    return query.select_from(tables)


def _conditions(connection: Connection, filters: HistoryFilters) -> Iterator[ColumnElement[bool]]:
    if filters.subject is not None:
        yield _ROW.subject == as_name(filters.subject)
    if filters.status is not None:
        yield SHOWN_STATUS.in_([filters.status])
    if filters.mode is not None:
        yield _ROW.mode == filters.mode
    if filters.search:
        in_names = _in_names(connection, filters.search)
        yield or_(in_names, text_words.matches(connection, filters.search)) if filters.in_texts else in_names


def _in_names(connection: Connection, search: str) -> ColumnElement[bool]:
    """Return the condition that a name has the search. What only few rows name is searched first, without a join:
    to look up the title and the playbook of every evaluation would take twice as long as all the rest.
    """
    # SQLite's LIKE ignores case by itself, and lower() would copy each name first.
    ignores_case = connection.dialect.name == "sqlite"
    text = as_name(search)

    def has_search(name: ColumnElement[str]) -> ColumnElement[bool]:
        return name.contains(text, autoescape=True) if ignores_case else name.icontains(text, autoescape=True)

    conditions = [
        *map(has_search, (_ROW.id, _ROW.subject, _ROW.evaluator)),
        _ROW.id.in_(select(documents.c.evaluation_id).where(has_search(documents.c.title))),
        _ROW.playbook_hash.in_(select(playbooks.c.logic_hash).where(has_search(playbooks.c.id))),
    ]
    if statuses := [status for status in ShownStatus if text.casefold() in status.casefold()]:
        conditions.append(SHOWN_STATUS.in_(statuses))
    return or_(*conditions)


_SEVERITY = case(
    {str(status): place for place, status in enumerate(reversed(ShownStatus))}, value=SHOWN_STATUS, else_=-1
)
"""The higher the more severe. An incomplete report and an evaluation without one are below all others."""


def _sort_columns(sort: HistorySort) -> tuple[ColumnElement[Any], ...]:
    """Return the columns to sort by. Ids sort by time, so they are the date, and decide where all else is equal."""
    columns: dict[HistorySort, ColumnElement[Any]] = {
        HistorySort.TITLE: func.lower(func.coalesce(documents.c.title, "")),
        HistorySort.SUBJECT: func.lower(_ROW.subject),
        HistorySort.STATUS: _SEVERITY,
    }
    return (columns[sort], _ROW.id) if sort in columns else (_ROW.id,)
