"""Which requests are accepted, and the headers of every response.

The API needs a session or the token, on loopback too, because other users of the machine can connect to it. A foreign
page in the same browser can send requests to loopback, and a foreign host name can resolve to it. So the Host header
must be one of ours exactly, and the browser's Origin and Sec-Fetch headers are checked.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salvo.errors import SalvoError
from salvo.web import static_files
from salvo.web.metrics import Metrics
from salvo.web.responses import error_answer, error_response
from salvo.web.sessions import LONGEST_LIFETIME, OPERATOR, AccessControl, LoginSession
from salvo.web.settings import LOOPBACK, Settings

_log = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 24 * 1024 * 1024
"""Four texts of several megabytes each, as JSON."""
MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
DOCUMENTS = "/api/documents"
LOGIN = "/login"
USER_LOGIN = "/api/login"
OIDC_LOGIN = "/api/login/oidc"
OIDC_CALLBACK = "/api/login/oidc/callback"
_LOGINS = frozenset({USER_LOGIN, OIDC_LOGIN, OIDC_CALLBACK})
"""Where users log in; they need no session."""
SHARED = "/api/shared/"
"""What share links show. A request has the token of a link in a header instead of a session."""
HEALTH = ("/healthz", "/readyz")
_MAX_LOGGED_PATH = 200
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
    def __init__(self, app: ASGIApp, settings: Settings, access: AccessControl, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._access = access
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response_started = False
        clock = self._settings.clock
        started = clock.monotonic()

        async def send_with_headers(message: Message) -> None:
            nonlocal response_started
            if message["type"] == "http.response.start":
                response_started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if _has_data(scope["path"]) or scope["path"] in (LOGIN, *HEALTH):
                    headers["cache-control"] = "no-store"
                self._note_response(scope, message["status"], clock.monotonic() - started)
            await send(message)

        request_headers = Headers(scope=scope)
        limit = MAX_DOCUMENT_BYTES if scope["path"] == DOCUMENTS else MAX_REQUEST_BYTES
        try:
            rejection = await self._rejection(scope, request_headers) or _reject_length(request_headers, limit)
            session: LoginSession | None = scope.get("state", {}).get("session")
            response_send: Send = send_with_headers
            if session is not None:
                response_send = _until_logout(send_with_headers, partial(self._access.is_valid, session))
            await (rejection or self._app)(scope, _limited(receive, limit), response_send)
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

    def _note_response(self, scope: Scope, status: int, seconds: float) -> None:
        """Count and log a response. A path has ids; a query string may have a login code, so it is left out."""
        self._metrics.count("salvo_http_responses_total", f'class="{status // 100}xx"')
        if _log.isEnabledFor(logging.INFO) and scope["path"] not in HEALTH:
            request = {"method": scope["method"], "path": scope["path"][:_MAX_LOGGED_PATH]}
            _log.info("A request was answered.", extra={"fields": {**request, "status": status, "seconds": seconds}})

    async def _rejection(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["path"] in HEALTH and scope["method"] in _SAFE_METHODS:
            return None  # a load balancer may use any name; the answer is one word
        host = headers.get("host", "")
        if not self._is_own_host(host, _port(scope)):
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
        if scope["path"] == LOGIN and scope["method"] == "GET":
            return self._log_in(scope)
        is_open = scope["path"] in _LOGINS or scope["path"].startswith(SHARED)
        needs_session = _has_data(scope["path"]) and not is_open
        refusal = await self._authenticate(scope, headers) if needs_session else None
        return refusal or _reject_content_type(scope, headers)

    def _is_own_host(self, host: str, port: int | None) -> bool:
        names = {name.lower() for name in self._settings.hosts}
        host = host.lower()
        if port is None:
            return host in names or _PORT.sub("", host) in LOOPBACK
        # A proxy has another port or none; there is no proxy on loopback.
        return host in {f"{name}:{port}" for name in names} or (host in names and host not in LOOPBACK)

    def _log_in(self, scope: Scope) -> Response:
        """Exchange the code of the address for a session cookie."""
        if not self._access.codes.redeem(HTTPConnection(scope).query_params.get("code", "")):
            return self._refuse_login()
        response = RedirectResponse(self._settings.home, 303)
        set_session_cookie(response, scope, self._access.sessions.start())
        return response

    def _refuse_login(self) -> Response:
        """The page says how to get in, and leads on a browser that is logged in already."""
        if static_files.is_built(self._settings.static):
            return FileResponse(self._settings.static / static_files.INDEX, 401, _CHALLENGE)
        return PlainTextResponse(f"This code is wrong, was used or has expired. {_LOGIN_HINT}\n", 401, _CHALLENGE)

    async def _authenticate(self, scope: Scope, headers: Headers) -> Response | None:
        """Note who asks in the request's state, or return the response that refuses the request."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            is_allowed, session = self._access.is_token(token.strip()), None
        else:
            session_id = HTTPConnection(scope).cookies.get(session_cookie_name(scope), "")
            try:
                session = await self._access.find_session(session_id)
            except SalvoError as error:  # the sessions of users are in the database, which may not answer
                return error_answer(error)
            is_allowed = session is not None
        if is_allowed:
            scope.setdefault("state", {}).update(session=session, user=OPERATOR if session is None else session.user)
            return None
        self._access.codes.drop_expired()  # so the newest code that was printed is a valid one
        response = error_response(401, "login_needed", "You are not logged in to this server.", _LOGIN_HINT)
        response.headers.update(_CHALLENGE)
        return response


_PORT = re.compile(r":\d{1,5}$")
_CHALLENGE = {"www-authenticate": "Bearer"}
_LOGIN_HINT = (
    "Log in on the page, or open the newest address that the server printed in its terminal; each works once. "
    "A program sends the token of --token-file as a bearer token."
)


def set_session_cookie(response: Response, scope: Scope, session_id: str) -> None:
    """Let the browser send the session's id."""
    set_private_cookie(response, scope, session_cookie_name(scope), session_id, LONGEST_LIFETIME)


def set_private_cookie(response: Response, scope: Scope, name: str, value: str, lifetime: timedelta) -> None:
    """Set a cookie that no script and no other site gets. Over TLS, which a proxy adds, it is sent over TLS only."""
    response.set_cookie(
        name,
        value,
        max_age=int(lifetime.total_seconds()),
        secure=_is_over_tls(Headers(scope=scope)),
        httponly=True,
        samesite="strict",
    )


def _is_over_tls(headers: Headers) -> bool:
    """Return whether the browser uses TLS, by its Origin. It sends none when an address is typed.

    Browsers send the Sec-Fetch headers over TLS and to loopback only.
    """
    origin = headers.get("origin")
    if origin is not None:
        return origin.startswith("https://")
    name = _PORT.sub("", headers.get("host", "").lower())
    is_loopback = name in LOOPBACK or name.endswith(".localhost")
    return "sec-fetch-site" in headers and not is_loopback


def session_cookie_name(scope: Scope) -> str:
    return _cookie_name("salvo_session", scope)


def oidc_cookie_name(scope: Scope) -> str:
    """Return the name of the cookie by which a browser is recognised that comes back from the OIDC provider."""
    return _cookie_name("salvo_oidc", scope)


def _cookie_name(name: str, scope: Scope) -> str:
    """Return a name of its own for each port, because browsers do not separate cookies by port.

    On a Unix socket it is the port of the tunnel, which the browser sends in the Host header.
    """
    port = _port(scope)
    if port is not None:
        return f"{name}_{port}"
    tunnel = _PORT.search(Headers(scope=scope).get("host", ""))
    return f"{name}_{tunnel.group()[1:]}" if tunnel else name


def _port(scope: Scope) -> int | None:
    """Return the port of the server; None on a Unix socket."""
    port: int | None = (scope.get("server") or ("", None))[1]
    return port


def _has_data(path: str) -> bool:
    """Everything but the files of the page, which hold no data, and the health of the server."""
    return f"{path}/".startswith(("/api/", "/metrics/"))


def _until_logout(send: Send, is_valid: Callable[[], Awaitable[bool]]) -> Send:
    """End a response that is still being sent when its session ends, such as a stream of events."""
    is_ended = False

    async def send_while_valid(message: Message) -> None:
        nonlocal is_ended
        if is_ended:
            return
        if message["type"] == "http.response.body" and message.get("more_body") and not await is_valid():
            is_ended = True
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_while_valid


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
