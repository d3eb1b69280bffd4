"""The sessions of users. They are in the database, so that every server knows them and a disabled user has none."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update

from salvo.engine.runtime.clock import Clock
from salvo.playbooks.accounts.users import Role, name_key
from salvo.playbooks.store.database import Database
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


class UserSessionStore:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def start(self, id_hash: str, name: str, expires: datetime) -> None:
        now = as_stored(self._clock.now())
        row = {"id_hash": id_hash, "name_key": name_key(name), "created_at": now, "expires_at": as_stored(expires)}
        with self._database.writing() as connection:
            connection.execute(delete(user_sessions).where(user_sessions.c.expires_at <= now))
            connection.execute(insert(user_sessions), row)

    def find(self, id_hash: str) -> UserSession | None:
        """Return a session that has not expired, with what its user may do now; None if the user was disabled."""
        query = (
            select(users.c.name, users.c.role, user_sessions.c.created_at, user_sessions.c.expires_at)
            .join(users, users.c.name_key == user_sessions.c.name_key)
            .where(user_sessions.c.id_hash == id_hash, users.c.disabled.is_(False))
            .where(user_sessions.c.expires_at > as_stored(self._clock.now()))
        )
        if self._database.is_new:  # reading would create the file
            return None
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        name, role, created_at, expires_at = row
        return UserSession(name, Role(role), datetime.fromisoformat(created_at), datetime.fromisoformat(expires_at))

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
