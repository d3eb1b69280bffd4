"""Bring the tables of a database up to date with Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from salvo.errors import StoreError
from salvo.playbooks.store.errors import NEWER, capitalized
from salvo.playbooks.store.location import REVISION


def migrate(connection: Connection, revision: str | None, place: str) -> None:
    """Upgrade a database of this revision; None if it has no tables yet. StoreError if a newer version made it."""
    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        ScriptDirectory.from_config(config).get_revision(revision or REVISION)
    except CommandError as error:
        raise StoreError(f"{capitalized(place)} was made by a newer version of Salvo.", hint=NEWER) from error
    command.upgrade(config, "head")
