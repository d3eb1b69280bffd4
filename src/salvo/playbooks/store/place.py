"""Where the database is: DATABASE_URL, or a file in the current folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

VARIABLE = "DATABASE_URL"
FILE = "byop_runs.db"


def database_url(environ: Mapping[str, str], cwd: Path) -> str:
    if named := environ.get(VARIABLE, "").strip():
        return named
    path = (cwd / FILE).as_posix()
    return f"sqlite:///{path.replace('%', '%25').replace('?', '%3F')}"
