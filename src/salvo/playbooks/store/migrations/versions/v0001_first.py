"""Evaluations, their votes, baselines and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0001", None


def upgrade() -> None:
    op.create_table(
        "byop_playbooks",
        sa.Column("logic_hash", NAME, primary_key=True),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "byop_evaluations",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("group_id", NAME),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("touched_at", sa.Text, nullable=False),
        sa.Column("finished_at", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("evaluator", sa.Text, nullable=False),
        sa.Column("playbook_hash", NAME, sa.ForeignKey("byop_playbooks.logic_hash"), nullable=False),
        sa.Column("inputs_fingerprint", sa.Text, nullable=False),
        sa.Column("stored_in_full", sa.Boolean, nullable=False),
        sa.Column("status", sa.Text),
        sa.Column("consistency", sa.Float),
        sa.Column("incomplete", sa.Boolean),
        sa.Column("report_hash", sa.Text),
        sa.Column("outcomes", sa.Text),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("inputs", sa.Text),
        sa.Column("report", sa.Text),
    )
    op.create_index("byop_evaluations_by_subject", "byop_evaluations", ["subject", "id"])
    op.create_index("byop_evaluations_by_series", "byop_evaluations", ["playbook_hash", "subject", "id"])
    op.create_index("byop_evaluations_by_state", "byop_evaluations", ["state"])
    of_evaluation = "byop_evaluations.id"
    op.create_table(
        "byop_votes",
        sa.Column("evaluation_id", NAME, sa.ForeignKey(of_evaluation, ondelete="CASCADE"), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("check_id", NAME, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("valid", sa.Boolean, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("vote_sha256", sa.Text, nullable=False),
        sa.Column("exchanges_sha256", sa.Text, nullable=False),
        sa.Column("vote", sa.Text, nullable=False),
        sa.Column("exchanges", sa.Text, nullable=False),
        sa.UniqueConstraint("evaluation_id", "check_id", "run", name="byop_votes_one_a_run"),
    )
    op.create_table(
        "byop_baselines",
        sa.Column("evaluation_id", NAME, sa.ForeignKey(of_evaluation, ondelete="CASCADE"), primary_key=True),
        sa.Column("playbook_hash", NAME, nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("saved_at", sa.Text, nullable=False),
    )
    op.create_index("byop_baselines_by_series", "byop_baselines", ["playbook_hash", "subject", "saved_at"])
    op.create_table(
        "byop_audit",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("evaluation_id", NAME, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
    )
    op.create_index("byop_audit_by_evaluation", "byop_audit", ["evaluation_id"])
