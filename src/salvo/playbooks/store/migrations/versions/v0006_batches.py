"""Batches of documents, and indexes by which a list of many evaluations is as quick as one of few."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0006", "0005"


def upgrade() -> None:
    op.create_table(
        "byop_batches",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("planned", sa.Integer, nullable=False),
        sa.Column("unread", sa.Text, nullable=False),
    )
    table = "byop_evaluations"
    op.create_index("byop_evaluations_by_group", table, ["group_id", "state", "id"])
    listed = ["evaluator", "playbook_hash", "mode", "status", "incomplete", "state"]
    op.create_index("byop_evaluations_listed", table, ["id", "subject", *listed])
    op.drop_index("byop_evaluations_by_subject", table)
    op.create_index("byop_evaluations_by_subject", table, ["subject", "id", *listed])
    op.create_index("byop_documents_titles", "byop_documents", ["evaluation_id", "title"])
