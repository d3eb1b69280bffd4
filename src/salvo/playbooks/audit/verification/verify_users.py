"""Compare the users who may log in with the audit log. Pure.

Who can write to the database could add a user or raise a role, and act in that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.audit.projection import LoggedRows
from salvo.playbooks.audit.verification.finding import VerificationFinding, altered, holds, join_first
from salvo.playbooks.audit.verification.verify_rows import row_changes
from salvo.playbooks.store.records import RawRow
from salvo.playbooks.store.tables import users

PART = "users"


def check_users(rows: Iterable[RawRow], log: LoggedRows) -> list[VerificationFinding]:
    """Name every user who was altered, added or removed; nothing where there never was one."""
    stored = {_name(row["name_key"]): row for row in rows}
    if not stored and not log.users:
        return []
    if changes := [*_changes(stored, log)]:
        return [altered(PART, f"Users were altered: {join_first(changes)}.")]
    return [holds(PART, f"{pluralize(len(stored), 'user')}: what the audit log says.")]


def _changes(stored: Mapping[str, RawRow], log: LoggedRows) -> Iterator[str]:
    for key, row in stored.items():
        if (logged := log.users.get(key)) is None:
            yield f"the user {_name(row['name'])!r} was inserted or renamed"
        else:
            yield from (f"of {logged['name']!r}, {change}" for change in row_changes(users, row, logged))
    yield from (f"the user {logged['name']!r} was removed" for key, logged in log.users.items() if key not in stored)


def _name(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
