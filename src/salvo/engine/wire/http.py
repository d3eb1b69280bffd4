"""HTTP over real sockets. Only this module opens a connection, and only it adds keys to requests."""

from __future__ import annotations

import errno
import io
import re
import ssl
import urllib.request
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import aiohttp
from yarl import URL

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire import content_encoding
from salvo.engine.wire.base import DEFAULT_HTTP, Endpoint, HttpOptions, Streaming, Timeouts, WireReply, WireRequest
from salvo.engine.wire.content_encoding import BodyDecoder, ContentEncodingError
from salvo.errors import (
    BrokenReplyError,
    MissingKeyError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    StreamCutError,
    UnreachableError,
    UsageError,
    WireError,
)
from salvo.records import record

_KEPT_HEADERS = (
    "content-type",
    "request-id",
    "x-request-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "location",
    "mcp-session-id",
)
"""Headers of replies that are kept. Others, such as cookies and organisation ids, are not needed."""
_LONG_BODY = 1024 * 1024


class HttpWire:
    """Sends requests through one connection pool."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        redactor: Redactor,
        clock: Clock | None = None,
        options: HttpOptions = DEFAULT_HTTP,
    ) -> None:
        self._endpoints = dict(endpoints)
        self._redactor = redactor
        self._clock = clock or SystemClock()
        self._timeouts = options.timeouts
        self._max_reply_bytes = options.max_reply_bytes
        self._kept_headers = (*_KEPT_HEADERS, *options.also_keep)
        self._routes: dict[tuple[str, str], _Route] = {}
        self._client_timeouts: dict[Timeouts, aiohttp.ClientTimeout] = {}
        self._reached: set[URL] = set()
        """The servers that answered before."""
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
        timeouts = request.timeouts or self._timeouts
        started = self._clock.monotonic()
        chunks: list[bytes] = []
        content = request.body if request.as_sent is None else request.as_sent(request.body)
        try:
            async with session.request(
                request.method,
                route.url,
                data=None if content is None else _body_data(content),
                headers={**request.headers, **route.headers},
                proxy=route.proxy,
                ssl=route.tls,
                timeout=self._client_timeouts.get(timeouts) or self._client_timeout(timeouts),
                # A redirect would send the key to another address.
                allow_redirects=False,
            ) as response:
                body = await self._read(response, route, request.streaming, chunks)
        except (aiohttp.ClientError, OSError, ContentEncodingError) as error:  # a TimeoutError is an OSError
            failure = self._wire_error(error, route, timeouts)
            if request.streaming is not None and chunks:  # the program may have seen a part of the reply
                raise StreamCutError(failure.message, hint=failure.hint) from error
            raise failure from error
        if route.origin not in self._reached:
            self._reached.add(route.origin)
        if response.status >= 400:
            body = self._redactor.text(body.decode("utf-8", "replace")).encode()
        return WireReply(
            status=response.status,
            body=body,
            headers=self._headers(response),
            seconds=self._clock.monotonic() - started,
        )

    def _wire_error(
        self, error: aiohttp.ClientError | OSError | ContentEncodingError, route: _Route, timeouts: Timeouts
    ) -> WireError:
        """Return our error for one of the HTTP library, whose own texts hold addresses of Python objects."""
        if isinstance(error, ContentEncodingError):
            return BrokenReplyError(f"{route.place} {error}.", hint=_TRY_AGAIN)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return _unreachable(route, f"it did not accept a connection in {timeouts.connect:g} s")
        if isinstance(error, TimeoutError):
            limit = timeouts.read if isinstance(error, aiohttp.SocketTimeoutError) else timeouts.total
            return ReplyTimeoutError(
                f"{route.place} accepted the request but sent no complete reply within {limit:g} s.",
                hint="Try again. If it keeps happening, the provider or a proxy does not respond, or the model is slow "
                "and needs a longer time limit.",
            )
        if isinstance(error, aiohttp.ClientPayloadError):
            return _broken_reply(route, str(error))
        if isinstance(error, aiohttp.ServerDisconnectedError):
            return BrokenReplyError(f"{route.place} closed the connection without a reply.", hint=_TRY_AGAIN)
        if isinstance(error, aiohttp.ClientConnectorError):
            return _connection_error(error, route, was_reached=route.origin in self._reached)
        return _unreachable(route, self._redactor.text(str(error) or type(error).__name__))

    def _client_timeout(self, timeouts: Timeouts) -> aiohttp.ClientTimeout:
        return self._client_timeouts.setdefault(
            timeouts,
            aiohttp.ClientTimeout(total=timeouts.total, connect=timeouts.connect, sock_read=timeouts.read),
        )

    async def _read(
        self, response: aiohttp.ClientResponse, route: _Route, streaming: Streaming | None, chunks: list[bytes]
    ) -> bytes:
        """Return the body. Its chunks are added to the list as they arrive, and passed on if it is a stream."""
        is_stream = response.status == 200 and response.content_type == "text/event-stream"
        size = 0
        decoder = BodyDecoder(response.headers.get("content-encoding", ""))
        async for received in response.content.iter_any():
            for chunk in decoder.feed(received):
                size += len(chunk)
                if size > self._max_reply_bytes:
                    raise ReplyTooLargeError(
                        f"{route.place} sent more than {self._max_reply_bytes:,} bytes; the rest was not read.",
                        hint="No completion is that large. Check that the base URL is that of a model API.",
                    )
                chunks.append(chunk)
                if streaming is not None and is_stream:
                    await streaming.sink(chunk, self._headers(response))
        decoder.close()
        return b"".join(chunks)

    def _headers(self, response: aiohttp.ClientResponse) -> dict[str, str]:
        return {name: value for name in self._kept_headers if (value := response.headers.get(name)) is not None}

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            # The pool of runs limits concurrency. A second limit here would hide where time is spent.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            headers={
                "content-type": "application/json",
                "accept": "application/json",
                "accept-encoding": content_encoding.ACCEPTED,
            },
            auto_decompress=False,
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
        headers = dict(endpoint.headers)
        if endpoint.key:
            headers[endpoint.key_header] = endpoint.key_prefix + endpoint.key
        tls = self._tls if url.scheme == "https" else True
        route = _Route(name, url, url.origin(), headers, _proxy_for(url), tls)
        if "?" not in path:  # there may be any number of queries
            self._routes[name, path] = route
        return route

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The TLS context, created for the first https endpoint: reading certificates is slow."""
        return ssl.create_default_context()


@record
class _Route:
    """A resolved endpoint and path. The credential is in `headers`, so it stays inside HttpWire."""

    endpoint: str
    url: URL
    origin: URL
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


def _body_data(body: Any) -> bytes | io.BytesIO:
    """Return the bytes of a body. A long one is a file, which aiohttp writes in chunks, so that others do not wait."""
    content = body if isinstance(body, bytes) else json_codec.dumps(body)
    return content if len(content) <= _LONG_BODY else io.BytesIO(content)


def _connection_error(error: aiohttp.ClientConnectorError, route: _Route, *, was_reached: bool) -> UnreachableError:
    """Return the error for a connection that could not be made.

    Where the address is wrong, or the server was never there, trying again would only cost time.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        certificate_error = error.certificate_error
        reason = getattr(certificate_error, "verify_message", "") or "it is not valid"
        return _unreachable(route, f"its certificate is not trusted ({reason})", is_permanent=True)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        reason = (getattr(error.os_error, "reason", None) or "handshake failure").replace("_", " ").lower()
        return _unreachable(route, f"TLS failed ({reason})", is_permanent=True)
    host = "the host of the proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else "the host"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _unreachable(route, f"the name of {host} cannot be resolved", is_permanent=True)
    if error.os_error.errno == errno.ECONNREFUSED:
        reason = f"{host} refused the connection"
        return _unreachable(route, reason, is_permanent=True, may_succeed_later=was_reached)
    number = error.os_error.errno
    return _unreachable(route, errno.errorcode.get(number, "no connection") if number else "no connection")


def _broken_reply(route: _Route, description: str) -> BrokenReplyError:
    """Return the error for a body that cannot be read, from the words of the HTTP library."""
    if match := _RECEIVED.search(description):
        what = f"broke off its reply after {int(match[1]):,} of {int(match[2]):,} bytes"
    else:
        what = "broke off its reply"
    return BrokenReplyError(f"{route.place} {what}.", hint=_TRY_AGAIN)


_RECEIVED = re.compile(r"received (\d+) of (\d+) bytes")
_TRY_AGAIN = "Try again. If it keeps happening, the provider or a proxy before it is out of order."


def _unreachable(
    route: _Route, reason: str, *, is_permanent: bool = False, may_succeed_later: bool | None = None
) -> UnreachableError:
    return UnreachableError(
        f"{route.place} could not be reached: {reason}.",
        hint="Check the network, HTTPS_PROXY and SSL_CERT_FILE, and the base URL.",
        is_permanent=is_permanent,
        may_succeed_later=not is_permanent if may_succeed_later is None else may_succeed_later,
    )


def _proxy_for(url: URL) -> str | None:
    """Return the proxy that the environment names. aiohttp's `trust_env` would look it up at every request."""
    if urllib.request.proxy_bypass(f"{url.host}:{url.port}"):
        return None
    return urllib.request.getproxies().get(url.scheme)
