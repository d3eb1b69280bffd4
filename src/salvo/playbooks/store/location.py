"""Where the database is: DATABASE_URL, or a file in the current folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

VARIABLE = "DATABASE_URL"
FILE = "byop_runs.db"

REVISION = "0012"
"""The newest revision in `migrations`. A database with this revision needs no migration."""
VERSION_TABLE = "byop_version"
TOUCH = f"UPDATE {VERSION_TABLE} SET version_num = version_num WHERE 1 = 0"  # noqa: S608 - ours
"""Changes nothing, but fails if the database is read-only. BEGIN IMMEDIATE alone does not fail there."""

_SQLITE = "sqlite:///"


def database_url(environ: Mapping[str, str], cwd: Path) -> str:
    if url := environ.get(VARIABLE, "").strip():
        return url
    path = (cwd / FILE).as_posix()
    return f"sqlite:///{path.replace('%', '%25').replace('?', '%3F')}"


def can_wait(url: str) -> bool:
    """Return whether the database can be opened later, during the first calls, because it is certainly writable.

    Importing SQLAlchemy takes longer than a model takes to answer, so this uses the standard library, for files only.
    """
    path = Path(url.removeprefix(_SQLITE).replace("%3F", "?").replace("%25", "%"))
    if not url.startswith(_SQLITE) or not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute(TOUCH)
            (revision,) = database.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608 - ours
    except (sqlite3.Error, TypeError):
        return False
    return bool(revision == REVISION)
