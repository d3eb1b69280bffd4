"""The titles of documents, by which evaluations are listed and found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "byop_documents",
        sa.Column("evaluation_id", name, sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
    )
