"""Signatures over the heads of the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "byop_audit_signatures",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("public_key", name, primary_key=True),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
    )
