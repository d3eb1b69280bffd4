"""Who is logged in: sessions of browsers, the one-time codes that start them, and the token of programs.

Sessions that a code started are in memory and end with the server. Those of users are in the database, where all
servers find them. Only hashes of session ids and codes are held.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from salvo.engine.runtime.clock import Clock
from salvo.playbooks.accounts.account_store import AccountStore
from salvo.playbooks.accounts.users import OPERATOR_NAME, LoginMethod, OidcIdentity, Role
from salvo.records import record
from salvo.web.responses import ForbiddenError

IDLE_LIFETIME = timedelta(hours=12)
"""A session ends so long after its last request."""
LONGEST_LIFETIME = timedelta(days=7)
CODE_LIFETIME = timedelta(minutes=15)
MAX_ATTEMPTS = 5
"""Wrong guesses after which a code is void."""
_SELECTOR_LENGTH = 8


@record
class CurrentUser:
    """Who sends a request."""

    name: str
    role: Role
    authenticated: bool
    """Whether this is one person, who proved it; then what they do is recorded in their name."""
    has_password: bool = False
    """Whether they have a password here, which they can change."""

    @property
    def authenticated_name(self) -> str | None:
        return self.name if self.authenticated else None


OPERATOR = CurrentUser(OPERATOR_NAME, Role.ADMIN, authenticated=False)
"""Whoever has an address that the server printed, or its token."""


@record
class LoginSession:
    id_hash: str
    user: CurrentUser
    created: datetime
    expires: datetime


class SessionStore:
    """The sessions of this server's own addresses."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: dict[str, LoginSession] = {}

    def start(self) -> str:
        """Start a session and return its id, the value of the cookie."""
        now = self._clock.now()
        self._sessions = {key: session for key, session in self._sessions.items() if session.expires > now}
        session_id = _random_text()
        id_hash = _hash(session_id)
        self._sessions[id_hash] = LoginSession(id_hash, OPERATOR, now, now + IDLE_LIFETIME)
        return session_id

    def find(self, session_id: str) -> LoginSession | None:
        """Return the session of a request, and prolong it; None if there is none or it has expired."""
        session = self._sessions.get(_hash(session_id))
        if session is None or not self.is_valid(session):
            return None
        session = replace(session, expires=_prolonged(self._clock.now(), session.created))
        self._sessions[session.id_hash] = session
        return session

    def is_valid(self, session: LoginSession) -> bool:
        """Return whether a session that was found before still lasts."""
        current = self._sessions.get(session.id_hash)
        return current is not None and current.expires > self._clock.now()

    def end(self, session: LoginSession) -> None:
        self._sessions.pop(session.id_hash, None)


def _prolonged(now: datetime, created: datetime) -> datetime:
    return min(now + IDLE_LIFETIME, created + LONGEST_LIFETIME)


@dataclass(slots=True)
class _Code:
    secret_hash: str
    expires: datetime
    when_spent: Callable[[], None]
    wrong_guesses: int = 0


class LoginCodes:
    """Codes that work once and for a limited time.

    The first characters of a code select it and the others are compared in constant time. So wrong guesses are counted
    for the code that they are aimed at, and somebody who knows no code can neither guess one nor use up its guesses.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, _Code] = {}

    def issue(self, when_spent: Callable[[], None]) -> str:
        """Return a new code. `when_spent` is called once it has been used, or can no longer be used."""
        code = _random_text()
        selector, secret = code[:_SELECTOR_LENGTH], code[_SELECTOR_LENGTH:]
        self._codes[selector] = _Code(_hash(secret), self._clock.now() + CODE_LIFETIME, when_spent)
        return code

    def redeem(self, text: str) -> bool:
        """Use up the code. Return False if it is wrong, was used or has expired."""
        self.drop_expired()
        selector, secret = text[:_SELECTOR_LENGTH], text[_SELECTOR_LENGTH:]
        code = self._codes.get(selector)
        if code is None:
            return False
        is_right = hmac.compare_digest(_hash(secret), code.secret_hash)
        code.wrong_guesses += not is_right
        if is_right or code.wrong_guesses >= MAX_ATTEMPTS:
            self._drop(selector)
        return is_right

    def drop_expired(self) -> None:
        now = self._clock.now()
        for selector in [selector for selector, code in self._codes.items() if code.expires <= now]:
            self._drop(selector)

    def _drop(self, selector: str) -> None:
        self._codes.pop(selector).when_spent()


class AccessControl:
    """Decides who may use the API: a browser with a session, or a program with the token."""

    accounts: AccountStore | None = None
    """The users and their sessions, once the database is open."""

    def __init__(self, clock: Clock, token: str | None = None) -> None:
        self._clock = clock
        self.sessions = SessionStore(clock)
        self.codes = LoginCodes(clock)
        self._token_hash = None if token is None else _hash(token)

    async def start_session(
        self, accounts: AccountStore, name: str, login: LoginMethod | None, proof: str | OidcIdentity
    ) -> str:
        """Start a session of a user and return its id, the value of the cookie. None: they were logged in before.

        `proof` is the hash of the password that was given, or whom the OIDC provider vouched for. ForbiddenError if it
        is no longer that of the user.
        """
        session_id = _random_text()
        expires = self._clock.now() + IDLE_LIFETIME
        if not await asyncio.to_thread(accounts.sessions.start, _hash(session_id), name, expires, login, proof):
            raise ForbiddenError("This account was changed during the login.", hint="Log in again.")
        return session_id

    async def find_session(self, session_id: str) -> LoginSession | None:
        """Return the session of a request, and prolong it; None if there is none or it has expired."""
        session = self.sessions.find(session_id)
        if session is not None or self.accounts is None or not session_id:
            return session
        return await asyncio.to_thread(self._find_user_session, self.accounts, _hash(session_id), prolong=True)

    async def is_valid(self, session: LoginSession) -> bool:
        """Return whether a session that was found before still lasts."""
        if not session.user.authenticated or self.accounts is None:
            return self.sessions.is_valid(session)
        return await asyncio.to_thread(self._find_user_session, self.accounts, session.id_hash) is not None

    async def end_session(self, session: LoginSession) -> None:
        self.sessions.end(session)
        if session.user.authenticated and self.accounts is not None:
            await asyncio.to_thread(self.accounts.sessions.end, session.id_hash)

    def _find_user_session(self, accounts: AccountStore, id_hash: str, *, prolong: bool = False) -> LoginSession | None:
        session = accounts.sessions.find(id_hash)
        if session is None:
            return None
        expires = session.expires
        if prolong:
            expires = accounts.sessions.prolong(id_hash, session, _prolonged(self._clock.now(), session.created))
        user = CurrentUser(session.name, session.role, authenticated=True, has_password=session.has_password)
        return LoginSession(id_hash, user, session.created, expires)

    def is_token(self, token: str) -> bool:
        return self._token_hash is not None and hmac.compare_digest(_hash(token), self._token_hash)


def random_token() -> str:
    return _random_text()


def _random_text() -> str:
    """Return 43 characters that nobody can guess and that need no escaping in a URL."""
    return urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
