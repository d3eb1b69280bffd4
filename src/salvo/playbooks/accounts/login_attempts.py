"""How many wrong passwords were tried for a name, and until when no further one is accepted, on all servers.

An attempt is counted before the password is looked at, so that many at once are not more than one after the other.
Names that nobody has are treated alike, so that an answer does not tell who has an account.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update

from salvo.engine.jsonio.canonical import hex_digest
from salvo.playbooks.accounts.users import name_key
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.tables import login_attempts

FREE_ATTEMPTS = 5
"""Attempts before one has to wait."""
FIRST_WAIT = timedelta(seconds=30)
"""It doubles with each further wrong password."""
LONGEST_WAIT = timedelta(minutes=15)
_FORGOTTEN_AFTER = timedelta(hours=1)


class LoginAttempts(DatabaseStore):
    def begin(self, name: str) -> timedelta:
        """Count an attempt, and return zero; or return how long to wait before the next, and count nothing."""
        key = _key(name)
        with self._database.writing(alone=True) as connection:
            now = self._clock.now()
            connection.execute(
                delete(login_attempts).where(login_attempts.c.blocked_until < as_stored(now - _FORGOTTEN_AFTER))
            )
            row = connection.execute(select(login_attempts).where(login_attempts.c.key == key)).one_or_none()
            if row is None:
                values = {"key": key, "attempts": 1, "blocked_until": as_stored(now)}
                connection.execute(insert(login_attempts), values)
                return timedelta()
            wait = datetime.fromisoformat(row.blocked_until) - now
            if row.attempts >= FREE_ATTEMPTS and wait > timedelta():  # the clocks of two servers may differ
                return wait
            attempts = row.attempts + 1
            values = {"attempts": attempts, "blocked_until": as_stored(now + _wait(attempts))}
            connection.execute(update(login_attempts).where(login_attempts.c.key == key).values(values))
            return timedelta()

    def clear(self, name: str) -> None:
        """Forget the attempts for a name, whose password was given."""
        with self._database.writing() as connection:
            connection.execute(delete(login_attempts).where(login_attempts.c.key == _key(name)))


def _wait(attempts: int) -> timedelta:
    if attempts < FREE_ATTEMPTS:
        return timedelta()
    doublings = min(attempts - FREE_ATTEMPTS, 10)
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def _key(name: str) -> str:
    """Return a hash: somebody may have typed a password where the name belongs."""
    return hex_digest(name_key(name))
