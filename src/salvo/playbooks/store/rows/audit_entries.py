"""The rows of the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select

from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import sign_head
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.rows import head_signatures
from salvo.playbooks.store.tables import audit
from salvo.records import record

SIGNING_KEY = "byop_signing_key"
"""The execution option of a connection with a function that returns the key that signs each new entry."""

_ENTRIES = select(audit.c.sequence, audit.c.entry, audit.c.hash, audit.c.evaluation_id)


def append(connection: Connection, content: Mapping[str, Any]) -> None:
    """Append an entry. Only in an exclusive transaction, because the next entry depends on the last one."""
    last = connection.execute(_ENTRIES.order_by(audit.c.sequence.desc()).limit(1)).one_or_none()
    entry = audit_log.seal(content, _entry(last) if last else None)
    row = {"sequence": entry.sequence, "hash": entry.hash, "evaluation_id": entry.report_id, "entry": entry.text}
    connection.execute(insert(audit), row)
    read_key = connection.get_execution_options().get(SIGNING_KEY)
    key = None if read_key is None else read_key()
    if key is not None:
        head_signatures.save(connection, sign_head(entry, key, at=str(content.get("at", ""))))


def list_entries(connection: Connection, evaluation_id: str | None) -> list[AuditEntry]:
    """Return the entries, the oldest first: all of them, or those about one evaluation."""
    query = _ENTRIES.order_by(audit.c.sequence)
    if evaluation_id is not None:
        query = query.where(audit.c.evaluation_id == evaluation_id)
    return [_entry(row) for row in connection.execute(query)]


@record
class AuditFilter:
    action: str = ""
    """Only entries of this action."""
    evaluation_id: str = ""
    search: str = ""
    """Only entries with this text, such as the name of a person; in upper or lower case."""

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return what matches. Entries are canonical JSON, so they begin with the action."""
        conditions = []
        if self.action:
            conditions.append(audit.c.entry.startswith(f'{{"action":{_quoted(self.action)},', autoescape=True))
        if self.evaluation_id:
            conditions.append(audit.c.evaluation_id == self.evaluation_id)
        if self.search:
            conditions.append(audit.c.entry.icontains(_quoted(self.search)[1:-1], autoescape=True))
        return conditions


def _quoted(text: str) -> str:
    return json_codec.dumps(text).decode()


@record
class AuditPage:
    entries: list[AuditEntry]
    """The newest first."""
    previous: dict[int, AuditEntry]
    """The entry before each of these, by the number of the later one."""
    total: int
    """How many entries match the filter."""


def list_page(connection: Connection, filters: AuditFilter, *, limit: int, offset: int) -> AuditPage:
    """Return some of the entries that match.

    Without a filter, only these are read. A search reads every entry once, and keeps only the numbers of those that
    match: there is no index of the words of entries.
    """
    newest_first = select(audit.c.sequence).where(*filters.conditions()).order_by(audit.c.sequence.desc())
    if filters == AuditFilter():
        total = connection.scalar(select(func.count()).select_from(audit)) or 0
        on_page = list(connection.scalars(newest_first.limit(limit).offset(offset)))
    else:
        matching = list(connection.scalars(newest_first))
        total, on_page = len(matching), matching[offset : offset + limit]
    rows = connection.execute(_ENTRIES.where(audit.c.sequence.in_(on_page)).order_by(audit.c.sequence.desc()))
    entries = [_entry(row) for row in rows]
    before = [entry.sequence - 1 for entry in entries]
    previous = [_entry(row) for row in connection.execute(_ENTRIES.where(audit.c.sequence.in_(before)))]
    return AuditPage(entries, {entry.sequence + 1: entry for entry in previous}, total)


def _entry(row: Iterable[Any]) -> AuditEntry:
    """Binary data in place of a text never matches its hash."""
    return AuditEntry(*map(as_logged, row))
