"""Run by Alembic on the connection of the store, in one transaction and under the lock of the store."""

from __future__ import annotations

from alembic import context

from salvo.playbooks.store.location import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
