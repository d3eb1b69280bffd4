"""HTTP over real sockets. Only this module opens a connection, and only it adds keys to requests."""

from __future__ import annotations

import io
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import aiohttp
from yarl import URL

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Endpoint, WireReply, WireRequest
from salvo.errors import MissingKeyError, ReplyTimeoutError, ReplyTooLargeError, UnreachableError, UsageError

_KEPT_HEADERS = (
    "content-type",
    "request-id",
    "x-request-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "location",
)
"""Headers of replies that are kept. Others, such as cookies and organisation ids, are not needed."""
_LONG_BODY = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds. `read` limits the time without data; replies are not streamed, so it limits slow models."""

    connect: float = 10.0
    read: float = 300.0
    total: float = 600.0


class HttpWire:
    """Sends requests through one connection pool."""

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

    def add(self, name: str, endpoint: Endpoint) -> None:
        self._endpoints[name] = endpoint

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, request: WireRequest) -> WireReply:
        route = self._routes.get((request.endpoint, request.path)) or self._resolve(request.endpoint, request.path)
        session = self._session or self._open()
        started = self._clock.monotonic()
        try:
            async with session.request(
                request.method,
                route.url,
                data=None if request.body is None else _body_data(json_codec.dumps(request.body)),
                headers={**request.headers, **route.headers},
                proxy=route.proxy,
                ssl=route.tls,
                # A redirect would send the key to another address.
                allow_redirects=False,
            ) as response:
                body = await self._read(response, route)
        except aiohttp.ConnectionTimeoutError as error:
            raise _unreachable(route, f"did not accept a connection in {self._timeouts.connect:g} s") from error
        except TimeoutError as error:
            limit = self._timeouts.read if isinstance(error, aiohttp.SocketTimeoutError) else self._timeouts.total
            raise ReplyTimeoutError(
                f"{route.place} accepted the request but sent no complete reply within {limit:g} s.",
                hint="Try again. If it keeps happening, the provider or a proxy does not respond, or the model is slow "
                "and needs a longer time limit.",
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(route, self._redactor.text(str(error) or type(error).__name__)) from error
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
                    hint="No completion is that large. Check that the base URL is that of a model API.",
                )
            chunks.append(chunk)
        return b"".join(chunks)

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            # The pool of runs limits concurrency. A second limit here would hide where time is spent.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=self._timeouts.total, connect=self._timeouts.connect, sock_read=self._timeouts.read
            ),
            headers={"content-type": "application/json", "accept": "application/json"},
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _resolve(self, name: str, path: str) -> _Route:
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
                f"{self._redactor.text(endpoint.base_url)!r} is not a valid base URL.",
                hint="A base URL looks like https://api.example.com/v1.",
            )
        _check_below_base(URL(endpoint.base_url), url)
        headers = {endpoint.key_header: endpoint.key_prefix + endpoint.key} if endpoint.key else {}
        route = _Route(name, url, headers, _proxy_for(url), self._tls if url.scheme == "https" else True)
        if "?" not in path:  # there may be any number of queries
            self._routes[name, path] = route
        return route

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The TLS context, created for the first https endpoint: reading certificates is slow."""
        return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class _Route:
    """A resolved endpoint and path. The credential is in `headers`, so it stays inside HttpWire."""

    endpoint: str
    url: URL
    headers: dict[str, str]
    proxy: str | None
    tls: ssl.SSLContext | bool

    @property
    def place(self) -> str:
        """The endpoint and its host, for messages; the whole URL may contain a user and a password."""
        return f"{self.endpoint} at {self.url.host}:{self.url.port}"


def _check_below_base(base: URL, url: URL) -> None:
    """Refuse a path that leads out of the base URL, where the key does not belong."""
    # An encoded slash or dot counts as what it stands for: the server, or a proxy before it, may decode it.
    decoded = url.path.replace("\\", "/")
    folder = base.path.rstrip("/") + "/"
    if url.origin() != base.origin() or not f"{decoded}/".startswith(folder) or ".." in decoded.split("/"):
        raise UsageError(
            "A request leads out of the base URL, so it was not sent.", hint="Its path must not contain dot segments."
        )


def _body_data(body: bytes) -> bytes | io.BytesIO:
    """Return a long body as a file, which aiohttp writes in chunks, so that other requests do not wait for it."""
    return body if len(body) <= _LONG_BODY else io.BytesIO(body)


def _unreachable(route: _Route, reason: str) -> UnreachableError:
    return UnreachableError(
        f"{route.place} could not be reached: {reason}.",
        hint="Check the network, HTTPS_PROXY and SSL_CERT_FILE, and the base URL.",
    )


def _proxy_for(url: URL) -> str | None:
    """Return the proxy that the environment names. aiohttp's `trust_env` would look it up at every request."""
    if urllib.request.proxy_bypass(f"{url.host}:{url.port}"):
        return None
    return urllib.request.getproxies().get(url.scheme)
