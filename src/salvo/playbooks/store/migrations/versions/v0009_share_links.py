"""Links that show one report for a limited time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0009", "0008"


def upgrade() -> None:
    op.create_table(
        "byop_share_links",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("evaluation_id", NAME, sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("token_hash", NAME, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("authenticated", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
        sa.Column("revoked_at", sa.Text),
        sa.Column("revoked_by", sa.Text),
        sa.Column("first_opened_at", sa.Text),
        sa.Column("last_opened_at", sa.Text),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("byop_share_links_by_token", "byop_share_links", ["token_hash"], unique=True)
    op.create_index("byop_share_links_by_evaluation", "byop_share_links", ["evaluation_id"])
