"""What a database says when it cannot, as sentences that a person can act on."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from salvo.errors import StoreError

NEWER = "Upgrade Salvo: pip install --upgrade salvo-ai."
_FREE = "Free some space; what was stored before is untouched."

# By the first two words of the name of SQLite's error: SQLITE_READONLY_DIRECTORY is a SQLITE_READONLY.
_SQLITE = {
    "SQLITE_BUSY": ("{place} is locked by another process.", "Wait until it is done, and try again."),
    "SQLITE_LOCKED": ("{place} is locked by another process.", "Wait until it is done, and try again."),
    "SQLITE_READONLY": (
        "{place} is read-only.",
        "Give yourself the right to write the file and its folder, or name another one in DATABASE_URL.",
    ),
    "SQLITE_NOTADB": (
        "{place} is not a database of Salvo: it is no SQLite file.",
        "Move it away, or name another file in DATABASE_URL.",
    ),
    "SQLITE_CORRUPT": ("{place} is damaged.", "Restore it from a backup."),
    "SQLITE_CANTOPEN": (
        "{place} cannot be opened.",
        "Its folder must exist, and you must have the right to write there; DATABASE_URL names another place.",
    ),
    "SQLITE_PERM": ("{place} cannot be opened: no permission.", "Give yourself the right to read and write it."),
    "SQLITE_FULL": ("{place} cannot be written: the disk is full.", _FREE),
    "SQLITE_IOERR": ("{place} cannot be read or written: the disk has a fault.", "Check the disk, then try again."),
}
# By the beginning of PostgreSQL's error code, the longest first.
_POSTGRESQL = {
    "25006": ("{place} is read-only.", "Connect to the server that takes writes."),
    "3D000": ("{place} does not exist.", "Make it first, with createdb."),
    "42501": ("{place} cannot be used: no permission.", "Give the user the right to make and write tables there."),
    "53100": ("{place} cannot be written: the disk is full.", _FREE),
    "53300": ("{place} takes no more connections.", "Wait, or raise max_connections on the server."),
    "55P03": ("{place} is locked by another process.", "Wait until it is done, and try again."),
    "57014": ("{place} took too long to answer.", "Try again when the server is less busy."),
    "28": ("{place} does not accept the user or the password.", "Check DATABASE_URL."),
    "57P": ("{place} was shut down.", "Start the server, and try again."),
}


def as_sentence(fault: SQLAlchemyError | sqlite3.Error, place: str) -> Exception:
    """Never with the statement or its values in it: those hold the texts under evaluation.

    What nobody can mend but us comes back as it is.
    """
    cause = getattr(fault, "orig", fault)
    if isinstance(cause, sqlite3.Error):
        name = getattr(cause, "sqlite_errorname", "")
        found = _SQLITE.get("_".join(name.split("_")[:2]))
    elif isinstance(fault, PoolTimeout):
        found = ("{place} has no connection to spare.", "Try again when fewer evaluations run.")
    else:
        found = _of_server(fault, cause)
    if found is None and not isinstance(fault, OperationalError | sqlite3.Error):
        return fault
    if found is None:
        return StoreError(f"{place} cannot be used: {_first_line(cause)}.", hint="Check DATABASE_URL.")
    message, hint = found
    return StoreError(message.format(place=place), hint=hint)


def _of_server(fault: BaseException, cause: Any) -> tuple[str, str] | None:
    code = getattr(cause, "sqlstate", None)
    if code:
        return next((said for start, said in _POSTGRESQL.items() if code.startswith(start)), None)
    said = str(cause)
    if "password" in said or "authentication" in said:
        return _POSTGRESQL["28"]
    if "does not exist" in said:
        return _POSTGRESQL["3D000"]
    if isinstance(fault, DBAPIError) and (fault.connection_invalidated or "connect" in said):
        return ("{place} cannot be reached.", "Is the server running, and is DATABASE_URL right?")
    return None


def _first_line(fault: BaseException) -> str:
    lines = str(fault).splitlines() or [type(fault).__name__]
    return lines[0].rstrip(".")
