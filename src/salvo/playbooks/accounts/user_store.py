"""The rows of users. Each change is stored together with its entry in the audit log, or not at all."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from salvo.engine.runtime.clock import Clock
from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.accounts.users import Role, UserAccount, checked_name, name_key
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.database import Database
from salvo.playbooks.store.queueing import process_owner
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.rows import audit_entries
from salvo.playbooks.store.tables import user_sessions, users


class UserStore:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def any(self) -> bool:
        """Return whether there are users, so that people log in with their names."""
        if self._database.is_new:  # reading would create the file
            return False
        with self._database.reading() as connection:
            return bool(connection.scalar(select(func.count()).select_from(users)))

    def list(self) -> list[UserAccount]:
        """Return the users in the order of their names, disabled ones too."""
        with self._database.reading() as connection:
            return [_user(row) for row in connection.execute(select(users).order_by(users.c.name_key)).mappings()]

    def find(self, name: str) -> UserAccount:
        with self._database.reading() as connection:
            return _user(_row(connection, name))

    def password_hash(self, name: str) -> str | None:
        """Return the hash for a login; None if nobody is called so, or they have no password or were disabled."""
        query = select(users.c.password_hash).where(users.c.name_key == name_key(name), users.c.disabled.is_(False))
        with self._database.reading() as connection:
            return connection.scalar(query)

    def add(self, name: str, role: Role, password_hash: str | None) -> UserAccount:
        stored = checked_name(name)
        now = as_stored(self._clock.now())
        with self._database.writing(alone=True) as connection:
            if connection.scalar(select(users.c.name).where(users.c.name_key == name_key(stored))) is not None:
                raise UsageError(f"There is a user {stored!r} already.", hint="`byop user list` shows the users.")
            row = {
                "name_key": name_key(stored),
                "name": stored,
                "role": str(role),
                "disabled": False,
                "created_at": now,
                "password_set_at": None if password_hash is None else now,
                "password_hash": password_hash,
            }
            connection.execute(insert(users), row)
            self._log(connection, audit_log.USER_ADDED, stored, now, role=str(role))
            return _user(_row(connection, stored))

    def set_role(self, name: str, role: Role) -> UserAccount:
        return self._change(name, audit_log.USER_ROLE_CHANGED, {"role": str(role)}, role=str(role))

    def set_disabled(self, name: str, *, disabled: bool) -> UserAccount:
        """Let somebody no longer log in, or let them in again. Their sessions end at once, on every server."""
        action = audit_log.USER_DISABLED if disabled else audit_log.USER_ENABLED
        return self._change(name, action, {"disabled": disabled}, ends_sessions=disabled)

    def set_password(self, name: str, password_hash: str, *, by: str | None = None) -> UserAccount:
        """Give somebody a new password, and end their sessions. `by` is the user who changes their own."""
        values = {"password_hash": password_hash, "password_set_at": as_stored(self._clock.now())}
        return self._change(name, audit_log.USER_PASSWORD_SET, values, ends_sessions=True, by=by)

    def replace_hash(self, name: str, old: str, new: str) -> None:
        """Store another hash of the same password, unless the password has been changed meanwhile."""
        with self._database.writing() as connection:
            is_it = (_is(name), users.c.password_hash == old)
            connection.execute(update(users).where(*is_it).values(password_hash=new))

    def _change(
        self,
        name: str,
        action: str,
        values: dict[str, Any],
        *,
        ends_sessions: bool = False,
        by: str | None = None,
        **details: str,
    ) -> UserAccount:
        now = as_stored(self._clock.now())
        with self._database.writing(alone=True) as connection:
            stored = _user(_row(connection, name)).name
            connection.execute(update(users).where(_is(name)).values(values))
            if ends_sessions:
                connection.execute(delete(user_sessions).where(user_sessions.c.name_key == name_key(name)))
            self._log(connection, action, stored, now, by=by, **details)
            return _user(_row(connection, name))

    def _log(
        self, connection: Connection, action: str, name: str, now: str, by: str | None = None, **details: str
    ) -> None:
        who = {"by": by, "authenticated": True} if by is not None else {"by": process_owner.system_user()}
        audit_entries.append(connection, {"action": action, "at": now, "user": name, **who, **details})


def _is(name: str) -> Any:
    return users.c.name_key == name_key(name)


def _row(connection: Connection, name: str) -> RowMapping:
    row = connection.execute(select(users).where(_is(name))).mappings().one_or_none()
    if row is None:
        raise UnknownIdError(f"There is no user {name!r}.", hint="`byop user list` shows the users.")
    return row


def _user(row: RowMapping) -> UserAccount:
    return UserAccount(row["name"], Role(row["role"]), bool(row["disabled"]), row["created_at"], row["password_set_at"])
