"""Users, their sessions, and the wrong passwords that were tried."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "byop_users",
        sa.Column("name_key", name, primary_key=True),
        sa.Column("name", name, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("password_set_at", sa.Text),
        sa.Column("password_hash", sa.Text),
    )
    op.create_table(
        "byop_user_sessions",
        sa.Column("id_hash", name, primary_key=True),
        sa.Column("name_key", name, sa.ForeignKey("byop_users.name_key", ondelete="CASCADE"), nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
    )
    op.create_table(
        "byop_login_attempts",
        sa.Column("key", name, primary_key=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("blocked_until", sa.Text, nullable=False),
    )
