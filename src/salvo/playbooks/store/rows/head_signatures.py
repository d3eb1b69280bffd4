"""The signatures over the heads of the audit log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict

from sqlalchemy import Connection, insert, select

from salvo.playbooks.audit.chain_signatures import HeadSignature
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.tables import audit_signatures


def save(connection: Connection, signature: HeadSignature) -> None:
    connection.execute(insert(audit_signatures), asdict(signature))


def list_signatures(connection: Connection, sequences: Collection[int] | None = None) -> list[HeadSignature]:
    """Return the signatures in the order of the entries that they sign: all of them, or those of these entries."""
    columns = audit_signatures.c
    query = select(columns.sequence, columns.public_key, columns.statement, columns.value)
    if sequences is not None:
        query = query.where(columns.sequence.in_(sequences))
    in_order = query.order_by(columns.sequence, columns.public_key)
    return [HeadSignature(*map(as_logged, row)) for row in connection.execute(in_order)]
