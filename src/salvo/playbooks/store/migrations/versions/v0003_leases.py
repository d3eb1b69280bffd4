"""Leases, turns and client tokens: several servers share the evaluations of one database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0003", "0002"


def upgrade() -> None:
    table = "byop_evaluations"
    for column in (
        sa.Column("lease_until", sa.Text),
        sa.Column("began_at", sa.Text),
        sa.Column("turn", sa.Integer),
        sa.Column("client", NAME),
        sa.Column("requirement", NAME),
        sa.Column("client_token", NAME),
    ):
        op.add_column(table, column)
    op.create_index("byop_evaluations_by_token", table, ["client_token"], unique=True)
    op.drop_index("byop_evaluations_by_state", table)  # its only selective use was to find those that run
    is_running = sa.text("state = 'running'")
    op.create_index(
        "byop_evaluations_running",
        table,
        ["turn", "id", "owner", "lease_until", "began_at", "client", "requirement", "state"],
        sqlite_where=is_running,
        postgresql_where=is_running,
    )
