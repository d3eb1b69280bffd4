"""Signatures over the heads of the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    op.create_table(
        "byop_audit_signatures",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("public_key", NAME, primary_key=True),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
    )
