"""The rows of the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import sign_head
from salvo.playbooks.store import head_signatures
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.tables import audit

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


def _entry(row: Iterable[Any]) -> AuditEntry:
    """Binary data in place of a text never matches its hash."""
    return AuditEntry(*map(as_logged, row))
