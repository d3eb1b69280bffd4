"""/api/login/oidc: log in with an OIDC provider. It needs no session."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, Field

from salvo.playbooks.accounts.pending_logins import LIFETIME
from salvo.playbooks.accounts.users import LoginMethod
from salvo.records import record
from salvo.web.request_models import RequestModel
from salvo.web.responses import ConflictError, JsonResponse, JsonRoute
from salvo.web.security import oidc_cookie_name, set_private_cookie, set_session_cookie
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["session"], route_class=JsonRoute)
_log = logging.getLogger(__name__)


def _checked_path(path: str) -> str:
    """Return the path of a page of this server, or raise ValueError: browsers read // and \\ as another host."""
    is_path = path.startswith("/") and not path.startswith("//") and "\\" not in path
    if not is_path or not path.isprintable():
        raise ValueError("the path of a page of this server begins with one slash")
    return path


class OidcLoginStart(RequestModel, json_schema_extra={"examples": [{"return_to": "/history"}]}):
    return_to: Annotated[str, Field(max_length=2000), AfterValidator(_checked_path)] = "/"
    """The page that is shown after the login."""


@record
class OidcLoginAddress:
    url: str
    """The provider's address at which the login goes on."""


@router.post("/login/oidc", operation_id="startOidcLogin", response_model=OidcLoginAddress)
async def start(body: OidcLoginStart, request: Request, services: ServicesDep) -> Response:
    """Begin a login with the OIDC provider. A cookie in the response binds it to this browser."""
    origin = request.headers.get("origin")  # SecurityMiddleware lets only that of this server pass
    if origin is None:
        raise ConflictError("Only a browser can log in with the provider.", hint="A program sends a bearer token.")
    url, browser_secret = await services.oidc_login().begin(origin, body.return_to)
    response = JsonResponse(OidcLoginAddress(url))
    set_private_cookie(response, request.scope, oidc_cookie_name(request.scope), browser_secret, LIFETIME)
    return response


class OidcLoginAnswer(
    RequestModel, json_schema_extra={"examples": [{"state": "af0ifjsldkj", "code": "SplxlOBeZQQYbY"}]}
):
    """What the provider's redirect has in its address."""

    state: Annotated[str, Field(min_length=1, max_length=200)]
    code: Annotated[str, Field(min_length=1, max_length=4000)] | None = None
    error: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")] | None = None
    iss: Annotated[str, Field(max_length=2000)] | None = None


@record
class OidcLoggedIn:
    return_to: str
    """The page to show."""


@router.post("/login/oidc/callback", operation_id="finishOidcLogin", response_model=OidcLoggedIn)
async def finish(body: OidcLoginAnswer, request: Request, services: ServicesDep) -> Response:
    """Start a session with the provider's answer. It must be of a login that this browser began, and works once."""
    cookie = oidc_cookie_name(request.scope)
    admitted = await services.oidc_login().finish(
        request.cookies.get(cookie, ""), state=body.state, code=body.code, error=body.error, issuer=body.iss
    )
    name = admitted.account.name
    response = JsonResponse(OidcLoggedIn(admitted.return_to))
    accounts = services.store.accounts
    session_id = await services.access.start_session(accounts, name, LoginMethod.OIDC, admitted.identity)
    set_session_cookie(response, request.scope, session_id)
    response.delete_cookie(cookie, httponly=True, samesite="strict")
    _log.info("A user logged in.", extra={"fields": {"user": name}})
    return response
