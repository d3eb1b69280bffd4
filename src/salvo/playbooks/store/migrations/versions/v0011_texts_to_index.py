"""The stored texts that have still to be indexed. A server does it while it runs: 10,000 take a minute or more."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0011", "0010"


def upgrade() -> None:
    evaluation = sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE")
    op.create_table("byop_texts_to_index", sa.Column("evaluation_id", NAME, evaluation, primary_key=True))
    op.execute(
        "INSERT INTO byop_texts_to_index (evaluation_id) SELECT id FROM byop_evaluations"
        " WHERE inputs IS NOT NULL AND id NOT IN (SELECT evaluation_id FROM byop_indexed_texts)"
    )
