"""Run by Alembic, on the connection that the store holds: one transaction, under the store's own lock."""

from __future__ import annotations

from alembic import context

from salvo.playbooks.store.location import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
