"""/api/login: log in with a name and a password. It needs no session."""

from __future__ import annotations

import asyncio
import logging
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from salvo.playbooks.accounts import passwords
from salvo.playbooks.accounts.account_store import AccountStore
from salvo.playbooks.accounts.users import MAX_NAME_LENGTH, MAX_PASSWORD_LENGTH, LoginMethod
from salvo.records import record
from salvo.web.request_models import RequestModel
from salvo.web.responses import ForbiddenError, JsonRoute, TooManyAttemptsError
from salvo.web.security import set_session_cookie
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api", tags=["session"], route_class=JsonRoute)
_log = logging.getLogger(__name__)

UserName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
Password = Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)]

_hashing = asyncio.Semaphore(2)
"""Each hash needs 64 MB of memory for a moment."""


@record
class LoginOptions:
    passwords: bool
    """Whether there are users who log in with a name and a password."""
    provider: str | None
    """The name of the OIDC provider with which people log in; null if there is none."""


@router.get("/login", operation_id="getLoginOptions")
def options(services: ServicesDep) -> LoginOptions:
    """Return how people log in to this server."""
    oidc = services.settings.oidc
    if oidc is None:
        return LoginOptions(services.store.accounts.users.any_password(), None)
    return LoginOptions(not oidc.is_only_login and services.store.accounts.users.any_password(), oidc.label)


class LoginCreate(
    RequestModel, json_schema_extra={"examples": [{"name": "Ada Brown", "password": "four words nobody links"}]}
):
    name: UserName
    password: Password


@router.post("/login", status_code=204, operation_id="logIn")
async def log_in(body: LoginCreate, request: Request, services: ServicesDep) -> Response:
    """Start a session, whose cookie is in the response."""
    check_passwords_are_used(services)
    accounts = services.store.accounts
    password_hash = await check_password(accounts, body.name, body.password)
    user = await asyncio.to_thread(accounts.users.find, body.name)
    response = Response(status_code=204)
    session_id = await services.access.start_session(accounts, user.name, LoginMethod.PASSWORD, password_hash)
    set_session_cookie(response, request.scope, session_id)
    _log.info("A user logged in.", extra={"fields": {"user": user.name}})
    return response


def check_passwords_are_used(services: Services) -> None:
    oidc = services.settings.oidc
    if oidc is not None and oidc.is_only_login:
        raise ForbiddenError("Nobody logs in to this server with a password.", hint=f"Log in with {oidc.label}.")


async def check_password(accounts: AccountStore, name: str, password: str) -> str:
    """Return the stored hash of the password.

    ForbiddenError if the name or the password is wrong, TooManyAttemptsError if too many were.
    """
    wait = await asyncio.to_thread(accounts.attempts.begin, name)
    if wait:
        raise TooManyAttemptsError(
            "Too many wrong passwords were tried for this name.",
            hint=f"Try again in {ceil(wait.total_seconds())} seconds. An administrator can set a new password.",
        )
    stored_hash = await asyncio.to_thread(accounts.users.password_hash, name)
    async with _hashing:
        is_right = await asyncio.to_thread(passwords.is_password, password, stored_hash)
    if not is_right or stored_hash is None:
        _log.warning("A login was refused: the name or the password is wrong.")
        raise ForbiddenError("The name or the password is wrong.", hint="Passwords are case-sensitive.")
    await asyncio.to_thread(accounts.attempts.clear, name)
    if not passwords.needs_rehash(stored_hash):
        return stored_hash
    new_hash = await hash_password(password)
    await asyncio.to_thread(accounts.users.replace_hash, name, stored_hash, new_hash)
    return new_hash


async def hash_password(password: str) -> str:
    async with _hashing:
        return await asyncio.to_thread(passwords.hash_password, password)
