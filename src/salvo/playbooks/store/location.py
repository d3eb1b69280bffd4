"""Where the database is: DATABASE_URL, or a file in the current folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

VARIABLE = "DATABASE_URL"
FILE = "byop_runs.db"

REVISION = "0001"
"""The newest of `migrations`: a database that says so is opened without a look at them."""
VERSION_TABLE = "byop_version"
TOUCH = f"UPDATE {VERSION_TABLE} SET version_num = version_num WHERE 1 = 0"  # noqa: S608 - ours
"""Changes nothing, and fails where nothing can be changed: SQLite begins to write even in a file it may only read."""

_SQLITE = "sqlite:///"


def database_url(environ: Mapping[str, str], cwd: Path) -> str:
    if named := environ.get(VARIABLE, "").strip():
        return named
    path = (cwd / FILE).as_posix()
    return f"sqlite:///{path.replace('%', '%25').replace('?', '%3F')}"


def can_wait(url: str) -> bool:
    """Whether the database may be opened while the first calls are on their way: it surely can be written.

    SQLAlchemy takes longer to load than a model to answer, so this asks the standard library, and a file only.
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
