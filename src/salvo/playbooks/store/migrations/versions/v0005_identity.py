"""The titles of documents, by which evaluations are listed and found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0005", "0004"


def upgrade() -> None:
    op.create_table(
        "byop_documents",
        sa.Column("evaluation_id", NAME, sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
    )
