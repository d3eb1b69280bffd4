"""Logins that a browser began and that an OIDC provider has not answered yet, for all servers.

Each is found only with the state that the provider returns and the secret that the browser keeps in a cookie, and it is
found once.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, func, insert, select

from salvo.engine.jsonio.canonical import hex_digest
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing.leases import as_stored
from salvo.playbooks.store.tables import oidc_logins
from salvo.records import record

LIFETIME = timedelta(minutes=10)
MAX_PENDING = 10_000
"""Anybody can begin a login. Beyond so many, the oldest are dropped."""


@record
class PendingLogin:
    state: str
    nonce: str
    code_verifier: str
    redirect_url: str
    return_to: str


class PendingLogins(DatabaseStore):
    def add(self, login: PendingLogin, browser_secret: str) -> None:
        now = self._clock.now()
        row = {
            "key": _key(login.state, browser_secret),
            "expires_at": as_stored(now + LIFETIME),
            "nonce": login.nonce,
            "code_verifier": login.code_verifier,
            "redirect_url": login.redirect_url,
            "return_to": login.return_to,
        }
        with self._database.writing() as connection:
            connection.execute(delete(oidc_logins).where(oidc_logins.c.expires_at <= as_stored(now)))
            count = connection.scalar(select(func.count()).select_from(oidc_logins)) or 0
            if count >= MAX_PENDING:
                oldest = select(oidc_logins.c.key).order_by(oidc_logins.c.expires_at).limit(count - MAX_PENDING + 1)
                connection.execute(delete(oidc_logins).where(oidc_logins.c.key.in_(oldest)))
            connection.execute(insert(oidc_logins), row)

    def take(self, state: str, browser_secret: str) -> PendingLogin | None:
        """Return the login that this browser began with this state, for the only time; None if it has expired."""
        is_it = (
            oidc_logins.c.key == _key(state, browser_secret),
            oidc_logins.c.expires_at > self._now(),
        )
        columns = (oidc_logins.c.nonce, oidc_logins.c.code_verifier, oidc_logins.c.redirect_url)
        with self._database.writing() as connection:
            # One statement: of two requests at once, one gets the row.
            removal = delete(oidc_logins).where(*is_it).returning(*columns, oidc_logins.c.return_to)
            row = connection.execute(removal).one_or_none()
        return None if row is None else PendingLogin(state, *row)


def _key(state: str, browser_secret: str) -> str:
    return hex_digest(f"{browser_secret}.{state}")
