"""/api/session: who is logged in, logging out, and changing one's password."""

from __future__ import annotations

import asyncio
from datetime import datetime

from fastapi import APIRouter, Request, Response

from salvo.playbooks.accounts import users
from salvo.playbooks.accounts.users import Role
from salvo.records import record
from salvo.web.request_models import RequestModel
from salvo.web.responses import ConflictError, JsonRoute
from salvo.web.routes.accounts import login
from salvo.web.routes.accounts.login import Password
from salvo.web.security import session_cookie_name, set_session_cookie
from salvo.web.services import ServicesDep, UserDep
from salvo.web.sessions import LoginSession

router = APIRouter(prefix="/api", tags=["session"], route_class=JsonRoute)


@record
class CurrentSession:
    user: str
    role: Role
    authenticated: bool
    """Whether somebody logged in with a name of their own; what they do is recorded in it."""
    has_password: bool
    """Whether they have a password here, which they can change."""
    expires: datetime | None
    """When the session ends if no further request is sent; null for a program with the token."""
    home: str
    """The address of the first page: that of the scenarios for `salvo dashboard`."""


@router.get("/session", operation_id="getSession")
async def get_session(request: Request, services: ServicesDep, user: UserDep) -> CurrentSession:
    """Return who is logged in, and where the page begins."""
    session: LoginSession | None = request.state.session
    oidc = services.settings.oidc
    has_password = user.has_password and not (oidc is not None and oidc.is_only_login)
    expires = None if session is None else session.expires
    return CurrentSession(user.name, user.role, user.authenticated, has_password, expires, services.settings.home)


@router.delete("/session", operation_id="endSession", status_code=204)
async def end_session(request: Request, services: ServicesDep) -> Response:
    """Log out: end the session of this browser, and the streams of events that it has open."""
    session: LoginSession | None = request.state.session
    response = Response(status_code=204)
    if session is not None:
        await services.access.end_session(session)
        response.delete_cookie(session_cookie_name(request.scope), httponly=True, samesite="strict")
    return response


class PasswordChange(
    RequestModel,
    json_schema_extra={"examples": [{"current": "four words nobody links", "new": "another four unlinked words"}]},
):
    current: Password
    new: Password


@router.post("/session/password", operation_id="changePassword", status_code=204)
async def change_password(body: PasswordChange, request: Request, services: ServicesDep, user: UserDep) -> Response:
    """Change one's own password. All other sessions of the user end."""
    if not user.authenticated:
        raise ConflictError("Nobody is logged in with a name here, so there is no password.")
    login.check_passwords_are_used(services)
    if not user.has_password:
        raise ConflictError("You have no password here.", hint="You log in with the login provider.")
    users.check_password(body.new, user.name)
    accounts = services.store.accounts
    await login.check_password(accounts, user.name, body.current)
    password_hash = await login.hash_password(body.new)
    await asyncio.to_thread(accounts.users.set_password, user.name, password_hash, by=user.name)
    response = Response(status_code=204)
    session_id = await services.access.start_session(accounts, user.name, None, password_hash)
    set_session_cookie(response, request.scope, session_id)
    return response
