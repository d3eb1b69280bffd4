"""The wire: one request out, one reply back. Only this module opens a socket, and only it ever holds a key.

A WireRequest names its endpoint; HttpWire knows where that is and adds the credential at the socket. So no
request object, recording, error or log can contain a key, and a replay needs none.
"""

from __future__ import annotations

import io
import ssl
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.trust import load_client
from salvo.errors import (
    MissingKeyError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    UnreachableError,
    UsageError,
)

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL


_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class WireRequest(NamedTuple):
    """What is sent. The lane says who asks; callers choose it, and it must never depend on timing."""

    endpoint: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = _NO_HEADERS
    lane: str = ""
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try that failed before the final one: how, how long it took, how long we waited after it."""

    status: int | None
    problem: str
    seconds: float
    waited: float


class WireReply(NamedTuple):
    """What came back, whatever its status. `seconds` is the final try alone, without waits."""

    status: int
    body: bytes
    headers: Mapping[str, str] = _NO_HEADERS
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()

    def json(self) -> Any:
        """The body parsed; ValueError where it is not JSON."""
        return json_codec.loads(self.body, nan=True)


class Wire(Protocol):
    async def send(self, request: WireRequest) -> WireReply:
        """Sends one request; raises WireFault where no reply came back at all."""
        ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a name leads, and how its key is presented. The key never shows in a repr."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    key_variable: str = ""
    """Where set, a key is needed, and this is the environment variable a person would put it in."""

    @property
    def host(self) -> str:
        """Where requests go, for people: never the whole URL, which may hold a user and a password."""
        return urllib.parse.urlsplit(self.base_url).hostname or "an address without a host"


class Timeouts(NamedTuple):
    """Seconds. `read` is the longest silence: whole replies come at once, so it bounds a slow model too."""

    connect: float = 10.0
    read: float = 300.0
    total: float = 600.0


def preload() -> None:
    """Loads the HTTP client, before there is a request whose time it would be. No thread makes this shorter."""
    load_client()


class HttpWire:
    """Real sockets: one pooled session for everything a process sends."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        redactor: Redactor,
        *,
        clock: Clock | None = None,
        timeouts: Timeouts | None = None,
        max_reply_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self._endpoints = dict(endpoints)
        self._redactor = redactor
        self._clock = clock or SystemClock()
        self._timeouts = timeouts or Timeouts()
        self._max_reply_bytes = max_reply_bytes
        self._routes: dict[tuple[str, str], _Route] = {}
        self._session: aiohttp.ClientSession | None = None
        self._tls: ssl.SSLContext | None = None

    def add(self, name: str, endpoint: Endpoint) -> None:
        """One more place to send to."""
        self._endpoints[name] = endpoint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, request: WireRequest) -> WireReply:
        import aiohttp

        route = self._route(request.endpoint, request.path)
        session = self._session or self._open()
        started = self._clock.monotonic()
        try:
            async with session.request(
                request.method,
                route.url,
                data=None if request.body is None else _in_pieces(json_codec.dumps(request.body)),
                headers={**request.headers, **route.headers},
                proxy=route.proxy,
                ssl=route.tls,
                # A redirect would carry the key to wherever it points.
                allow_redirects=False,
            ) as response:
                body = await self._read(response, route)
        except aiohttp.ConnectionTimeoutError as fault:
            raise _unreachable(route, f"did not accept a connection in {self._timeouts.connect:g} s") from fault
        except TimeoutError as fault:
            raise ReplyTimeoutError(
                f"{route.place} took the request and then sent nothing for too long.",
                hint="Try again; if it keeps happening, the provider or a proxy on the way is stuck.",
            ) from fault
        except (aiohttp.ClientError, OSError) as fault:
            raise _unreachable(route, self._redactor.text(str(fault) or type(fault).__name__)) from fault
        if response.status >= 400:
            body = self._redactor.text(body.decode("utf-8", "replace")).encode()
        return WireReply(
            status=response.status,
            body=body,
            headers={name: value for name in _KEPT_HEADERS if (value := response.headers.get(name)) is not None},
            seconds=self._clock.monotonic() - started,
        )

    async def _read(self, response: aiohttp.ClientResponse, route: _Route) -> bytes:
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > self._max_reply_bytes:
                raise ReplyTooLargeError(
                    f"{route.place} sent more than {self._max_reply_bytes:,} bytes; the rest was not read.",
                    hint="No completion is that large: check that the base URL points at a model's API.",
                )
            chunks.append(chunk)
        return b"".join(chunks)

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        from salvo.engine.wire.eager import EagerRequest

        self._session = aiohttp.ClientSession(
            # No limit here: the pool above bounds concurrency, and waiting twice would hide where time goes.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=self._timeouts.total, connect=self._timeouts.connect, sock_read=self._timeouts.read
            ),
            headers={"content-type": "application/json", "accept": "application/json"},
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=EagerRequest,
        )
        return self._session

    def _route(self, endpoint: str, path: str) -> _Route:
        route = self._routes.get((endpoint, path))
        if route is None:
            route = self._routes[endpoint, path] = self._find_route(endpoint, path)
        return route

    def _find_route(self, name: str, path: str) -> _Route:
        from yarl import URL

        endpoint = self._endpoints.get(name)
        if endpoint is None:
            if not name.startswith(("http://", "https://")):
                raise UsageError(
                    f"There is no endpoint called {name!r}.",
                    hint=f"Known: {', '.join(sorted(self._endpoints)) or 'none'}; or give a URL.",
                )
            endpoint = Endpoint(base_url=name)
        if endpoint.key_variable and not endpoint.key:
            raise MissingKeyError(
                f"There is no API key for {name}, so nothing was sent.", hint=f"Set {endpoint.key_variable}."
            )
        url = URL(endpoint.base_url.rstrip("/") + path)
        if url.scheme not in ("http", "https") or not url.host:
            raise UsageError(
                f"{self._redactor.text(endpoint.base_url)!r} is not an address requests can go to.",
                hint="A base URL looks like https://api.example.com/v1.",
            )
        headers = {endpoint.key_header: endpoint.key_prefix + endpoint.key} if endpoint.key else {}
        return _Route(name, url, headers, _proxy_for(url), self._trust() if url.scheme == "https" else True)

    def _trust(self) -> ssl.SSLContext:
        """Made for the first https endpoint: reading certificates is slow. OpenSSL honours SSL_CERT_FILE."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


class _Route(NamedTuple):
    """An endpoint and a path worked out once: the credential is in `headers`, so it stays inside HttpWire."""

    endpoint: str
    url: URL
    headers: dict[str, str]
    proxy: str | None
    tls: ssl.SSLContext | bool

    @property
    def place(self) -> str:
        """For messages: never the whole URL, which may hold a user and a password."""
        return f"{self.endpoint} at {self.url.host}:{self.url.port}"


# Everything else a provider sends (cookies, organisation ids) is not ours to keep.
_LONG = 1024 * 1024
_KEPT_HEADERS = (
    "content-type",
    "request-id",
    "x-request-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "location",
)


def _in_pieces(body: bytes) -> bytes | io.BytesIO:
    """A long body, so that it is not written in one go while everyone else waits."""
    return body if len(body) <= _LONG else io.BytesIO(body)


def _unreachable(route: _Route, reason: str) -> UnreachableError:
    return UnreachableError(
        f"{route.place} could not be reached: {reason}.",
        hint="Check the network, HTTPS_PROXY and SSL_CERT_FILE, and the base URL.",
    )


def _proxy_for(url: URL) -> str | None:
    """The proxy of the environment, looked up once a route; aiohttp's own way asks again at every request."""
    if urllib.request.proxy_bypass(f"{url.host}:{url.port}"):
        return None
    return urllib.request.getproxies().get(url.scheme)
