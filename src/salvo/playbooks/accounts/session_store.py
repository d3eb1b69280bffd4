"""The sessions of users. They are in the database, so that every server knows them and a disabled user has none."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import and_, delete, insert, select, update

from salvo.playbooks.accounts.user_store import append_entry
from salvo.playbooks.accounts.users import LoginMethod, OidcIdentity, Role, name_key
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.damage import check_type, damaged_row
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.tables import user_sessions, users
from salvo.records import record

_PROLONGED_BY = timedelta(minutes=10)
"""A session is prolonged only when it would last so much longer: not every request writes."""


@record
class UserSession:
    name: str
    role: Role
    created: datetime
    expires: datetime
    has_password: bool


class UserSessionStore(DatabaseStore):
    def start(
        self, id_hash: str, name: str, expires: datetime, login: LoginMethod | None, proof: str | OidcIdentity
    ) -> bool:
        """Start a session. The audit log has the login, if there was one: a new password starts a session, too.

        `proof` is the hash of the password that was given, or whom a provider vouched for. Return False, and start
        none, if it is no longer that of the user: a new password ends the sessions that there are, and the password of
        a login that has not ended by then was checked before.
        """
        now = self._now()
        row = {"id_hash": id_hash, "name_key": name_key(name), "created_at": now, "expires_at": as_stored(expires)}
        if isinstance(proof, str):
            is_valid = users.c.password_hash == proof
        else:
            is_valid = and_(users.c.oidc_issuer == proof.issuer, users.c.oidc_subject == proof.subject)
        is_it = (users.c.name_key == name_key(name), users.c.disabled.is_(False), is_valid)
        with self._database.writing(alone=True) as connection:
            if connection.execute(select(users.c.name).where(*is_it)).one_or_none() is None:
                return False
            connection.execute(delete(user_sessions).where(user_sessions.c.expires_at <= now))
            connection.execute(insert(user_sessions), row)
            if login is not None:
                append_entry(connection, audit_log.USER_LOGGED_IN, name, now, by=name, login_method=str(login))
        return True

    def find(self, id_hash: str) -> UserSession | None:
        """Return a session that has not expired, with what its user may do now; None if the user was disabled."""
        query = (
            select(
                users.c.name,
                users.c.role,
                user_sessions.c.created_at,
                user_sessions.c.expires_at,
                users.c.password_hash.is_not(None),
            )
            .join(users, users.c.name_key == user_sessions.c.name_key)
            .where(user_sessions.c.id_hash == id_hash, users.c.disabled.is_(False))
            .where(user_sessions.c.expires_at > self._now())
        )
        if self._database.is_new:  # reading would create the file
            return None
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        name, role, created_at, expires_at, has_password = row
        try:
            created, expires = datetime.fromisoformat(created_at), datetime.fromisoformat(expires_at)
            return UserSession(check_type("name", name, str), Role(role), created, expires, bool(has_password))
        except (ValueError, TypeError) as error:
            raise damaged_row("user", name, error) from error

    def prolong(self, id_hash: str, session: UserSession, expires: datetime) -> datetime:
        """Return when it ends: at the new time, if that is worth writing."""
        if expires - session.expires < _PROLONGED_BY:
            return session.expires
        with self._database.writing() as connection:
            is_it = user_sessions.c.id_hash == id_hash
            connection.execute(update(user_sessions).where(is_it).values(expires_at=as_stored(expires)))
        return expires

    def end(self, id_hash: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(user_sessions).where(user_sessions.c.id_hash == id_hash))
