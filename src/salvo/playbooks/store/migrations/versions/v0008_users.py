"""Users, their sessions, and the wrong passwords that were tried."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0008", "0007"


def upgrade() -> None:
    op.create_table(
        "byop_users",
        sa.Column("name_key", NAME, primary_key=True),
        sa.Column("name", NAME, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("password_set_at", sa.Text),
        sa.Column("password_hash", sa.Text),
    )
    op.create_table(
        "byop_user_sessions",
        sa.Column("id_hash", NAME, primary_key=True),
        sa.Column("name_key", NAME, sa.ForeignKey("byop_users.name_key", ondelete="CASCADE"), nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
    )
    op.create_table(
        "byop_login_attempts",
        sa.Column("key", NAME, primary_key=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("blocked_until", sa.Text, nullable=False),
    )
