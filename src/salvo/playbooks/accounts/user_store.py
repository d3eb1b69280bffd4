"""The rows of users. Each change is stored together with its entry in the audit log, or not at all."""

from __future__ import annotations

import shlex
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.accounts.users import OidcIdentity, Role, UserAccount, checked_name, name_key
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.damage import check_columns, damaged_row
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing import process_owner
from salvo.playbooks.store.records import RawRow
from salvo.playbooks.store.rows import audit_entries, raw_rows
from salvo.playbooks.store.tables import user_sessions, users


class UserStore(DatabaseStore):
    def any_password(self) -> bool:
        """Return whether there are users with a password."""
        if self._database.is_new:  # reading would create the file
            return False
        query = select(func.count()).select_from(users).where(users.c.password_hash.is_not(None))
        with self._database.reading() as connection:
            return bool(connection.scalar(query))

    def raw_rows(self) -> list[RawRow]:
        """Return the rows of all users, for verification."""
        with self._database.reading() as connection:
            return raw_rows.list_users(connection)

    def list(self) -> list[UserAccount]:
        """Return the users in the order of their names, disabled ones too."""
        with self._database.reading() as connection:
            return [_user(row) for row in connection.execute(select(users).order_by(users.c.name_key)).mappings()]

    def find(self, name: str) -> UserAccount:
        with self._database.reading() as connection:
            return _existing(connection, name)

    def password_hash(self, name: str) -> str | None:
        """Return the hash for a login; None if nobody is called so, or they have no password or were disabled."""
        query = select(users.c.password_hash).where(users.c.name_key == name_key(name), users.c.disabled.is_(False))
        with self._database.reading() as connection:
            return connection.scalar(query)

    def add(
        self, name: str, role: Role, password_hash: str | None, identity: OidcIdentity | None = None
    ) -> UserAccount:
        stored = checked_name(name)
        now = self._now()
        with self._database.writing(alone=True) as connection:
            if find_account(connection, stored) is not None:
                raise UsageError(f"There is a user {stored!r} already.", hint="`byop user list` shows the users.")
            if identity is not None:
                _check_unlinked(connection, identity)
            added = insert_user(connection, stored, role, now, password_hash=password_hash, identity=identity)
            append_entry(connection, audit_log.USER_ADDED, stored, now, role=str(role), **identity_fields(identity))
            return added

    def link(self, name: str, identity: OidcIdentity) -> UserAccount:
        """Let somebody log in with an OIDC provider, which has to vouch for this identity."""
        now = self._now()
        with self._database.writing(alone=True) as connection:
            account = _existing(connection, name)
            if account.identity is not None:
                raise UsageError(
                    f"{account.name} is linked to the subject {account.identity.subject!r} at "
                    f"{account.identity.issuer} already.",
                    hint=f"Remove that link first: byop user unlink {name_argument(account.name)}",
                )
            _check_unlinked(connection, identity)
            connection.execute(update(users).where(_is(name)).values(**_identity_columns(identity)))
            append_entry(connection, audit_log.USER_LINKED, account.name, now, **identity_fields(identity))
            return _existing(connection, name)

    def unlink(self, name: str) -> UserAccount:
        """Let somebody no longer log in with an OIDC provider, and end their sessions."""
        now = self._now()
        with self._database.writing(alone=True) as connection:
            account = _existing(connection, name)
            if account.identity is None:
                raise UsageError(f"{account.name} is not linked to a login provider.")
            connection.execute(update(users).where(_is(name)).values(**_identity_columns(None)))
            connection.execute(delete(user_sessions).where(user_sessions.c.name_key == name_key(name)))
            append_entry(connection, audit_log.USER_UNLINKED, account.name, now, **identity_fields(account.identity))
            return _existing(connection, name)

    def set_role(self, name: str, role: Role) -> UserAccount:
        return self._change(name, audit_log.USER_ROLE_CHANGED, {"role": str(role)}, role=str(role))

    def set_disabled(self, name: str, *, disabled: bool) -> UserAccount:
        """Let somebody no longer log in, or let them in again. Their sessions end at once, on every server."""
        action = audit_log.USER_DISABLED if disabled else audit_log.USER_ENABLED
        return self._change(name, action, {"disabled": disabled}, ends_sessions=disabled)

    def set_password(self, name: str, password_hash: str, *, by: str | None = None) -> UserAccount:
        """Give somebody a new password, and end their sessions. `by` is the user who changes their own."""
        now = self._now()
        values = {"password_hash": password_hash, "password_set_at": now}
        return self._change(name, audit_log.USER_PASSWORD_SET, values, now=now, ends_sessions=True, by=by)

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
        now: str | None = None,
        ends_sessions: bool = False,
        by: str | None = None,
        **details: str,
    ) -> UserAccount:
        now = now or self._now()
        with self._database.writing(alone=True) as connection:
            stored = _existing(connection, name).name
            connection.execute(update(users).where(_is(name)).values(values))
            if ends_sessions:
                connection.execute(delete(user_sessions).where(user_sessions.c.name_key == name_key(name)))
            append_entry(connection, action, stored, now, by=by, **details)
            return _existing(connection, name)


def append_entry(
    connection: Connection, action: str, name: str | None, now: str, *, by: str | None = None, **details: str
) -> None:
    """Append an entry about a user to the audit log. `by` is who was authenticated; None for a command."""
    who = {"by": by, "authenticated": True} if by is not None else {"by": process_owner.system_user()}
    user = {} if name is None else {"user": name}
    audit_entries.append(connection, {"action": action, "at": now, **user, **who, **details})


def insert_user(
    connection: Connection,
    name: str,
    role: Role,
    now: str,
    *,
    password_hash: str | None = None,
    identity: OidcIdentity | None = None,
) -> UserAccount:
    password_set_at = None if password_hash is None else now
    row = {
        "name_key": name_key(name),
        "name": name,
        "role": str(role),
        "disabled": False,
        "created_at": now,
        "password_set_at": password_set_at,
        "password_hash": password_hash,
        **_identity_columns(identity),
    }
    connection.execute(insert(users), row)
    return UserAccount(name, role, False, now, password_set_at, identity)


def find_account(connection: Connection, name: str) -> UserAccount | None:
    return _find(connection, _is(name))


def find_linked(connection: Connection, identity: OidcIdentity) -> UserAccount | None:
    return _find(connection, users.c.oidc_issuer == identity.issuer, users.c.oidc_subject == identity.subject)


def _find(connection: Connection, *conditions: Any) -> UserAccount | None:
    row = connection.execute(select(users).where(*conditions)).mappings().one_or_none()
    return None if row is None else _user(row)


def identity_fields(identity: OidcIdentity | None) -> dict[str, str]:
    """Return what the audit log records of an identity."""
    return {} if identity is None else {"oidc_issuer": identity.issuer, "oidc_subject": identity.subject}


def _identity_columns(identity: OidcIdentity | None) -> dict[str, str | None]:
    return {
        "oidc_issuer": None if identity is None else identity.issuer,
        "oidc_subject": None if identity is None else identity.subject,
    }


def _check_unlinked(connection: Connection, identity: OidcIdentity) -> None:
    linked = find_linked(connection, identity)
    if linked is not None:
        raise UsageError(
            f"The subject {identity.subject!r} at {identity.issuer} is linked to {linked.name} already.",
            hint=f"Remove that link first: byop user unlink {name_argument(linked.name)}",
        )


def name_argument(name: str) -> str:
    """Return a user's name as it is typed on the command line."""
    return shlex.quote(name)


def _is(name: str) -> Any:
    return users.c.name_key == name_key(name)


def _existing(connection: Connection, name: str) -> UserAccount:
    account = find_account(connection, name)
    if account is None:
        raise UnknownIdError(f"There is no user {name!r}.", hint="`byop user list` shows the users.")
    return account


def _user(row: RowMapping) -> UserAccount:
    try:
        check_columns(dict(row), dict(users.c))
        role = Role(row["role"])
    except ValueError as error:
        raise damaged_row("user", row["name"], error) from error
    issuer, subject = row["oidc_issuer"], row["oidc_subject"]
    identity = None if issuer is None or subject is None else OidcIdentity(issuer, subject)
    return UserAccount(row["name"], role, bool(row["disabled"]), row["created_at"], row["password_set_at"], identity)
