"""/api/session: who is logged in, and logging out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request, Response

from salvo.web.responses import JsonRoute
from salvo.web.security import session_cookie_name
from salvo.web.services import ServicesDep
from salvo.web.sessions import LOCAL_USER, LoginSession

router = APIRouter(prefix="/api", tags=["session"], route_class=JsonRoute)


@dataclass(frozen=True, slots=True)
class CurrentSession:
    user: str
    expires: datetime | None
    """When the session ends if no further request is sent; null for a program with the token."""
    home: str
    """The address of the first page: that of the scenarios for `salvo dashboard`."""


@router.get("/session", operation_id="getSession")
async def get_session(request: Request, services: ServicesDep) -> CurrentSession:
    """Return who is logged in, and where the page begins."""
    session: LoginSession | None = request.state.session
    user, expires = (LOCAL_USER, None) if session is None else (session.user, session.expires)
    return CurrentSession(user, expires, services.settings.home)


@router.delete("/session", operation_id="endSession", status_code=204)
async def end_session(request: Request, services: ServicesDep) -> Response:
    """Log out: end the session of this browser, and the streams of events that it has open."""
    session: LoginSession | None = request.state.session
    response = Response(status_code=204)
    if session is not None:
        services.access.sessions.end(session)
        response.delete_cookie(session_cookie_name(request.scope), httponly=True, samesite="strict")
    return response
