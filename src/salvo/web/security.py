"""Who may ask, and what an answer may do. Everything that comes in or goes out passes here.

A page of somebody else's in the same browser can send requests to loopback, and a name of theirs can be made to point
there: so the Host must be one of ours to the letter, and what a browser says about who asks is believed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salvo.web.documents.reader import LARGEST_DOCUMENT
from salvo.web.responses import refusal
from salvo.web.settings import LOOPBACK, Settings

_log = logging.getLogger(__name__)

LARGEST_REQUEST = 24 * 1024 * 1024
"""Bytes: four texts of some megabytes each, as JSON."""
DOCUMENTS = "/api/documents"
LOGIN = "/login"
COOKIE = "byop_token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

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
        began = False

        async def guarded(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                _put_on(MutableHeaders(scope=message), scope["path"])
            await send(message)

        headers = Headers(scope=scope)
        limit = LARGEST_DOCUMENT if scope["path"] == DOCUMENTS else LARGEST_REQUEST
        refused = self._refusal(scope, headers) or _too_large(headers, limit)
        try:
            await (refused or self._app)(scope, _counted(receive, limit), guarded)
        except Exception:
            if began:
                raise
            _log.exception("A request failed through a fault of the server's own.")
            sorry = refusal(
                500,
                "internal",
                "Something went wrong in the server itself.",
                "Nothing is lost that was stored. The server's terminal says more.",
            )
            await sorry(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._is_ours(host, scope):
            return refusal(403, "strange_host", "This server is not to be addressed by that name.", self._addresses)
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return refusal(403, "strange_origin", "Another page may not use this server.", _OWN_PAGE)
        if not _comes_from_here(scope, headers):
            return refusal(403, "strange_origin", "Another page may not use this server.", _OWN_PAGE)
        return self._stranger(scope, headers) or _wrong_kind(scope, headers)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        names = self._settings.hosts
        port = (scope.get("server") or ("", None))[1]
        # Behind a proxy the port is another, or none; on loopback there is no proxy.
        return host in {f"{name}:{port}" for name in names} or (host in names and host not in LOOPBACK)

    @property
    def _addresses(self) -> str:
        return f"It goes by {', '.join(self._settings.hosts)}."

    def _stranger(self, scope: Scope, headers: Headers) -> Response | None:
        """Where a token is needed: who shows it on /login gets it as a cookie; a program sends it as a bearer."""
        if self._settings.token is None:
            return None
        if scope["path"] == LOGIN:
            shown = HTTPConnection(scope).query_params.get("token", "")
            if self._settings.admits(shown):
                welcome = RedirectResponse(self._settings.home, 303)
                welcome.set_cookie(COOKIE, shown, httponly=True, samesite="lax")
                return welcome
        elif self._settings.admits(_shown(scope, headers)):
            return None
        if scope["path"].startswith("/api"):
            return refusal(401, "token_needed", "This server needs its token.", _TOKEN)
        return PlainTextResponse(f"This server needs its token. {_TOKEN}\n", 401)


_OWN_PAGE = "Use the page that this server serves, or a program that is no browser."
_TOKEN = "Open the address that was printed when it was started, or send the token as a bearer."  # noqa: S105 - a sentence


def _shown(scope: Scope, headers: Headers) -> str:
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else HTTPConnection(scope).cookies.get(COOKIE, "")


def _comes_from_here(scope: Scope, headers: Headers) -> bool:
    """By what a browser says of itself; a program that is none says nothing."""
    site = headers.get("sec-fetch-site", "same-origin")
    if site == "same-origin":
        return True
    if scope["method"] not in _SAFE:
        return False
    # An address that was typed, or a link from elsewhere to the page.
    return site == "none" or (headers.get("sec-fetch-mode") == "navigate" and not scope["path"].startswith("/api"))


def _wrong_kind(scope: Scope, headers: Headers) -> Response | None:
    """JSON only: what a form of another page can send without being asked first is not taken at all."""
    if scope["method"] in _SAFE or not _has_body(headers):
        return None
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    expected = "application/octet-stream" if scope["path"] == DOCUMENTS else "application/json"
    if kind == expected:
        return None
    return refusal(415, "wrong_type", f"This address takes {expected} only.", "Say so in the header Content-Type.")


def _has_body(headers: Headers) -> bool:
    return "content-type" in headers or "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _too_large(headers: Headers, limit: int) -> Response | None:
    said = headers.get("content-length", "0")
    return _larger_than(limit) if said.isdecimal() and int(said[:20]) > limit else None


def _larger_than(limit: int) -> Response:
    return refusal(413, "too_large", f"The request is larger than {limit // 2**20} MB.", "Evaluate a shorter text.")


class _TooLargeError(HTTPException):
    """Of the protocol's own kind, so that nobody on the way takes it for a fault of theirs."""


def _counted(receive: Receive, limit: int) -> Receive:
    """Whatever a header said: what is too much is not read."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _TooLargeError(413)
        return message

    return counted


def _put_on(headers: MutableHeaders, path: str) -> None:
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if path.startswith("/api"):
        headers["cache-control"] = "no-store"
