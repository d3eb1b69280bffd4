"""Playbooks that people save, in versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0007", "0006"


def upgrade() -> None:
    op.create_table(
        "byop_playbook_versions",
        sa.Column("playbook_id", NAME, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("logic_hash", NAME, nullable=False),
        sa.Column("saved_at", sa.Text, nullable=False),
        sa.Column("saved_by", sa.Text, nullable=False),
        sa.Column("withdrawn_at", sa.Text),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("byop_playbook_versions_by_hash", "byop_playbook_versions", ["logic_hash"])
