"""The words of stored texts, by which a search finds evaluations without reading their texts.

The texts that are stored already are indexed later: the next revision lists them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0010", "0009"


def upgrade() -> None:
    evaluation = sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE")
    op.create_table(
        "byop_indexed_texts",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("evaluation_id", NAME, evaluation, nullable=False, unique=True),
        sa.Column("complete", sa.Boolean, nullable=False),
    )
    op.create_table(
        "byop_text_words",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("word", NAME, nullable=False, unique=True),
    )
    word = sa.ForeignKey("byop_text_words.id", ondelete="CASCADE")
    text = sa.ForeignKey("byop_indexed_texts.number", ondelete="CASCADE")
    op.create_table(
        "byop_word_occurrences",
        sa.Column("word_id", sa.Integer, word, primary_key=True),
        sa.Column("text_number", sa.Integer, text, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("byop_word_occurrences_by_text", "byop_word_occurrences", ["text_number", "word_id"])
