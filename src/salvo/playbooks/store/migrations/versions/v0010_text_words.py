"""The words of stored texts, by which a search finds evaluations without reading their texts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.engine.jsonio import json_codec
from salvo.playbooks.evaluate.inputs import NAMES
from salvo.playbooks.store.damage import PARSE_ERRORS
from salvo.playbooks.store.rows import text_words

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    evaluation = sa.ForeignKey("byop_evaluations.id", ondelete="CASCADE")
    op.create_table(
        "byop_indexed_texts",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("evaluation_id", name, evaluation, nullable=False, unique=True),
        sa.Column("complete", sa.Boolean, nullable=False),
    )
    op.create_table(
        "byop_text_words",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("word", name, nullable=False, unique=True),
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
    _index_stored_texts(op.get_bind())


def _index_stored_texts(connection: sa.Connection) -> None:
    evaluations = sa.table("byop_evaluations", sa.column("id"), sa.column("inputs"))
    for evaluation_id in list(connection.scalars(sa.select(evaluations.c.id).where(evaluations.c.inputs.is_not(None)))):
        inputs = connection.scalars(sa.select(evaluations.c.inputs).where(evaluations.c.id == evaluation_id)).one()
        try:
            document = json_codec.loads(inputs)
            texts = {name: document.get(name) for name in NAMES}
            words = text_words.distinct_words(texts)
        except PARSE_ERRORS:
            continue  # a damaged evaluation, which `byop verify` names, is not found by its texts
        text_words.insert_words(connection, evaluation_id, words)
