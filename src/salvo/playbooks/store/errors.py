"""Turn database errors into messages that a user can act on."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from salvo.engine.text.messages import install_command
from salvo.errors import StoreError

NEWER = f"Upgrade Salvo: run {install_command()} in the folder of a newer version."
_FREE = "Free some space. What was stored before is not affected."

# By the first two parts of the name of SQLite's error: SQLITE_READONLY_DIRECTORY is a SQLITE_READONLY.
_SQLITE = {
    "SQLITE_BUSY": ("{place} is locked by another process.", "Wait until it has finished, and try again."),
    "SQLITE_LOCKED": ("{place} is locked by another process.", "Wait until it has finished, and try again."),
    "SQLITE_READONLY": (
        "{place} is read-only.",
        "Change the permissions of the file and its folder, or name another file in DATABASE_URL.",
    ),
    "SQLITE_NOTADB": ("{place} is not a SQLite file.", "Move it away, or name another file in DATABASE_URL."),
    "SQLITE_CORRUPT": ("{place} is damaged.", "Restore it from a backup."),
    "SQLITE_CANTOPEN": (
        "{place} cannot be opened.",
        "Its folder must exist and be writable. DATABASE_URL can name another file.",
    ),
    "SQLITE_PERM": ("{place} cannot be opened: no permission.", "Change the permissions of the file."),
    "SQLITE_FULL": ("{place} cannot be written: the disk is full.", _FREE),
    "SQLITE_IOERR": ("{place} cannot be read or written: disk error.", "Check the disk, then try again."),
}
# By the start of PostgreSQL's error code, the longest first.
_POSTGRESQL = {
    "25006": ("{place} is read-only.", "Connect to a server that accepts writes."),
    "3D000": ("{place} does not exist.", "Create it with createdb."),
    "42501": ("{place} cannot be used: no permission.", "Grant the user the right to create and write tables."),
    "53100": ("{place} cannot be written: the disk is full.", _FREE),
    "53300": ("{place} accepts no more connections.", "Wait, or raise max_connections on the server."),
    "55P03": ("{place} is locked by another process.", "Wait until it has finished, and try again."),
    "57014": ("{place} took too long to answer.", "Try again when the server is less busy."),
    "28": ("{place} does not accept the user or the password.", "Check DATABASE_URL."),
    "57P": ("{place} was shut down.", "Start the server, and try again."),
}


_FOR_PAGE = "Tell whoever runs the server. Its terminal says where the database is."


def capitalized(place: str) -> str:
    """Return the place as the start of a sentence; a path stays as it is."""
    return f"The {place.removeprefix('the ')}" if place.startswith("the ") else place


def store_error(error: SQLAlchemyError | sqlite3.Error, place: str, *, for_page: bool = False) -> Exception:
    """Return a StoreError, without the statement and its values: those contain the texts under evaluation.

    An error that users cannot fix is returned unchanged. The page has no files and no environment variables to name.
    """
    cause = getattr(error, "orig", error)
    if isinstance(cause, sqlite3.Error):
        name = getattr(cause, "sqlite_errorname", "")
        explanation = _SQLITE.get("_".join(name.split("_")[:2]))
    elif isinstance(error, PoolTimeout):
        explanation = ("{place} has no free connection.", "Try again when fewer evaluations run.")
    else:
        explanation = _explain_server_error(error, cause)
    if explanation is None and not isinstance(error, OperationalError | sqlite3.Error):
        return error
    if explanation is None:
        first_line, *_ = str(cause).splitlines() or [type(cause).__name__]
        reason = "" if for_page else f": {first_line.rstrip('.')}"
        explanation = (
            f"{{place}} cannot be used{reason.replace('{', '{{').replace('}', '}}')}.",
            "Check DATABASE_URL.",
        )
    message, hint = explanation
    in_terminal = any(word in hint for word in ("DATABASE_URL", "file", "createdb"))
    return StoreError(message.format(place=capitalized(place)), hint=_FOR_PAGE if for_page and in_terminal else hint)


def _explain_server_error(error: BaseException, cause: Any) -> tuple[str, str] | None:
    code = getattr(cause, "sqlstate", None)
    if code:
        return next((explanation for start, explanation in _POSTGRESQL.items() if code.startswith(start)), None)
    message = str(cause)
    if "password" in message or "authentication" in message:
        return _POSTGRESQL["28"]
    if "does not exist" in message:
        return _POSTGRESQL["3D000"]
    if isinstance(error, DBAPIError) and (error.connection_invalidated or "connect" in message):
        return ("{place} cannot be reached.", "Is the server running, and is DATABASE_URL right?")
    return None
