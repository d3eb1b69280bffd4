"""Users of a server, and browsers in which they are logged in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.playbooks.accounts import passwords
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.store.store import EvaluationStore
from tests.support.http_client import http_session
from tests.support.web import Client, Loginable, Reply

PASSWORD = "four words nobody links"
_hash = ""


def password_hash() -> str:
    """The hash of the password, made once: it is slow on purpose."""
    global _hash  # noqa: PLW0603 - a cache
    _hash = _hash or passwords.hash_password(PASSWORD)
    return _hash


def add_user(url: str, name: str, role: Role, clock: Clock | None = None) -> None:
    with EvaluationStore.open(url, clock or SystemClock()) as store:
        store.accounts.users.add(name, role, password_hash())


def log_of(url: str, action: str | None = None) -> list[dict[str, Any]]:
    """Return the entries of the audit log, or those with one action."""
    with EvaluationStore.open(url, SystemClock()) as store:
        return [entry.content for entry in store.audit_log() if action is None or entry.action == action]


async def log_in(api: Client, name: str, password: str = PASSWORD) -> Reply:
    return await api.ask("POST", "/api/login", {"name": name, "password": password})


@asynccontextmanager
async def user_browser(server: Loginable, name: str) -> AsyncIterator[Client]:
    """A browser in which a user is logged in."""
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address without a name
    async with http_session(cookie_jar=jar) as session:
        api = Client(server.url, session)
        reply = await log_in(api, name)
        assert reply.status == 204, reply
        yield api
