"""What people decide about reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0004", "0003"


def upgrade() -> None:
    of_evaluation = "byop_evaluations.id"
    op.create_table(
        "byop_reviews",
        sa.Column("event_id", NAME, primary_key=True),
        sa.Column("evaluation_id", NAME, sa.ForeignKey(of_evaluation, ondelete="CASCADE"), nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", NAME, nullable=False),
        sa.Column("authenticated", sa.Boolean, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("check_id", NAME),
        sa.Column("finding", sa.Integer),
        sa.Column("result", sa.Text),
        sa.Column("assignee", NAME),
        sa.Column("target", NAME),
        sa.Column("blind", sa.Boolean, nullable=False),
        sa.Column("seen", sa.Integer, nullable=False),
        sa.Column("state_hash", sa.Text),
        sa.Column("reason_sha256", sa.Text),
        sa.UniqueConstraint("evaluation_id", "sequence", name="byop_reviews_in_order"),
    )
    op.create_table(
        "byop_review_texts",
        sa.Column("event_id", NAME, sa.ForeignKey("byop_reviews.event_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("salt", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
