"""Which requests are accepted, and the headers of every response.

A foreign page in the same browser can send requests to loopback, and a foreign host name can resolve to it. So the Host
header must be one of ours exactly, and the browser's Origin and Sec-Fetch headers are checked.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salvo.web.responses import error_response
from salvo.web.settings import LOOPBACK, Settings

_log = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 24 * 1024 * 1024
"""Four texts of several megabytes each, as JSON."""
MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
DOCUMENTS = "/api/documents"
LOGIN = "/login"
COOKIE = "byop_token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityMiddleware:
    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal response_started
            if message["type"] == "http.response.start":
                response_started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api"):
                    headers["cache-control"] = "no-store"
            await send(message)

        request_headers = Headers(scope=scope)
        limit = MAX_DOCUMENT_BYTES if scope["path"] == DOCUMENTS else MAX_REQUEST_BYTES
        rejection = self._rejection(scope, request_headers) or _reject_length(request_headers, limit)
        try:
            await (rejection or self._app)(scope, _limited(receive, limit), send_with_headers)
        except Exception:
            if response_started:
                raise
            _log.exception("A request failed because of an error in the server.")
            response = error_response(
                500,
                "internal",
                "An error occurred in the server.",
                "Stored data is not affected. The server's terminal shows the details.",
            )
            await response(scope, receive, send_with_headers)

    def _rejection(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._is_own_host(host, scope):
            hint = f"Its names are {', '.join(self._settings.hosts)}."
            return error_response(403, "strange_host", "This server does not accept that host name.", hint)
        origin = headers.get("origin")
        is_foreign = origin is not None and origin not in (f"http://{host}", f"https://{host}")
        if is_foreign or not _is_same_origin(scope, headers):
            return error_response(
                403,
                "strange_origin",
                "Other web pages may not use this server.",
                "Use the page of this server, or a program that is not a browser.",
            )
        return self._check_token(scope, headers) or _reject_content_type(scope, headers)

    def _is_own_host(self, host: str, scope: Scope) -> bool:
        names = self._settings.hosts
        port = (scope.get("server") or ("", None))[1]
        # A proxy has another port or none; there is no proxy on loopback.
        return host in {f"{name}:{port}" for name in names} or (host in names and host not in LOOPBACK)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A browser gets the token as a cookie by opening /login; a program sends it as a bearer token."""
        if self._settings.token is None:
            return None
        if scope["path"] == LOGIN:
            token = HTTPConnection(scope).query_params.get("token", "")
            if self._settings.is_token(token):
                response = RedirectResponse(self._settings.home, 303)
                response.set_cookie(COOKIE, token, httponly=True, samesite="lax")
                return response
        elif self._settings.is_token(_token(scope, headers)):
            return None
        if scope["path"].startswith("/api"):
            return error_response(401, "token_needed", _TOKEN_NEEDED, _TOKEN_HINT)
        return PlainTextResponse(f"{_TOKEN_NEEDED} {_TOKEN_HINT}\n", 401)


_TOKEN_NEEDED = "This server requires its token."  # noqa: S105 - a sentence
_TOKEN_HINT = "Open the address that was printed at start-up, or send the token as a bearer token."  # noqa: S105 - likewise


def _token(scope: Scope, headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else HTTPConnection(scope).cookies.get(COOKIE, "")


def _is_same_origin(scope: Scope, headers: Headers) -> bool:
    """By the Sec-Fetch headers, which only browsers send."""
    site = headers.get("sec-fetch-site", "same-origin")
    if site == "same-origin":
        return True
    if scope["method"] not in _SAFE_METHODS:
        return False
    # A typed address, or a link from another site to the page.
    return site == "none" or (headers.get("sec-fetch-mode") == "navigate" and not scope["path"].startswith("/api"))


def _reject_content_type(scope: Scope, headers: Headers) -> Response | None:
    """Accept only types that a form on another page cannot send without a preflight request."""
    has_body = "content-type" in headers or "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    if scope["method"] in _SAFE_METHODS or not has_body:
        return None
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    expected = "application/octet-stream" if scope["path"] == DOCUMENTS else "application/json"
    if content_type == expected:
        return None
    return error_response(415, "wrong_type", f"This address accepts only {expected}.", "Set the Content-Type header.")


def _reject_length(headers: Headers, limit: int) -> Response | None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) <= limit:
        return None
    return error_response(
        413, "too_large", f"The request is larger than {limit // 2**20} MB.", "Evaluate a shorter text."
    )


def _limited(receive: Receive, limit: int) -> Receive:
    """Stop reading a body that is too large, whatever its Content-Length says."""
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise HTTPException(413)  # FastAPI passes it on while it reads the body
        return message

    return receive_limited
