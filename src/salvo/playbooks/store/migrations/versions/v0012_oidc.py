"""Who users are at an OIDC provider, and logins that wait for its answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from salvo.playbooks.store.migrations.columns import NAME

revision, down_revision = "0012", "0011"


def upgrade() -> None:
    op.add_column("byop_users", sa.Column("oidc_issuer", NAME))
    op.add_column("byop_users", sa.Column("oidc_subject", NAME))
    op.create_index("byop_users_by_identity", "byop_users", ["oidc_issuer", "oidc_subject"], unique=True)
    op.create_table(
        "byop_oidc_logins",
        sa.Column("key", NAME, primary_key=True),
        sa.Column("expires_at", sa.Text, nullable=False),
        sa.Column("nonce", sa.Text, nullable=False),
        sa.Column("code_verifier", sa.Text, nullable=False),
        sa.Column("redirect_url", sa.Text, nullable=False),
        sa.Column("return_to", sa.Text, nullable=False),
    )
