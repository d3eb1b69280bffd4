"""The gateway: a loopback server that offers the APIs of the providers to a program with its own client.

Requests of the program go over the wire of its run, so they are retried, recorded, replayed and priced like all others,
and the key stays in this process. The program gets a token that is valid only for this gateway.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, Self, TypeAlias

from aiohttp import web

from salvo.engine.chat import catalog
from salvo.engine.chat.openai import RESPONSES_PATH
from salvo.engine.gateway.paths import PathRules
from salvo.engine.gateway.sse import (
    anthropic_stream,
    completion_stream,
    error_event,
    openai_stream,
    response_stream,
    unfinished_stream,
)
from salvo.engine.jsonio import json_codec
from salvo.engine.mcp.server import McpService
from salvo.engine.wire.base import Streaming, Wire, WireReply, WireRequest
from salvo.engine.wire.redaction.reasoning import with_placeholder_texts
from salvo.engine.wire.stream_assembly import stream_protocol
from salvo.engine.wire.streaming import EVENT_STREAM
from salvo.errors import BadReplyError, RequestRefusedError, SalvoError, StreamCutError
from salvo.records import record

HOST = "127.0.0.1"
_MAX_REQUEST = 64 * 1024 * 1024
_METHODS = ("GET", "POST", "DELETE")
_NOT_FORWARDED = frozenset({
    # Of one connection only (RFC 9110), or set by the client that sends the request on.
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
    "host", "content-length", "content-encoding", "accept-encoding", "expect",
    # Credentials. The wire adds its own.
    "authorization", "proxy-authorization", "proxy-authenticate", "x-api-key", "api-key", "x-goog-api-key", "cookie",
})  # fmt: skip
_REPLY_HEADERS = ("content-type", "request-id", "x-request-id")
_VERSION = {"anthropic-version": "2023-06-01"}
"""For clients that do not send it; the API requires it."""


@record
class Call:
    """A request of the program, with its number, its provider and its body."""

    number: int
    provider: str
    path: str
    """Without the query, which may hold a credential."""
    body: Any
    is_chat: bool
    """Whether a model is asked; listing models or counting tokens is not part of the conversation."""


class Listener(Protocol):
    """Gets each call twice: when it is made, and when it is answered or failed."""

    def requested(self, call: Call) -> None:
        """May raise a SalvoError; then nothing is sent, and the program gets the error."""
        ...

    def answered(self, call: Call, reply: WireReply) -> None: ...

    def failed(self, call: Call, error: SalvoError) -> None:
        """No reply came back that could be forwarded."""
        ...


class Gateway:
    """Serves one program while the `async with` block lasts."""

    def __init__(
        self,
        wire: Wire,
        listener: Listener,
        *,
        lane: str,
        paths: PathRules | None = None,
        services: Mapping[str, McpService] | None = None,
    ) -> None:
        self._wire = wire
        self._services = services or {}
        """What is served as an MCP server, by its path."""
        self._paths = paths or PathRules()
        self._listener = listener
        self._lane = lane
        # With the prefix that clients may check and that redaction recognises if the program prints it.
        self.token = f"sk-salvo-{os.urandom(24).hex()}"
        self._calls = 0
        self._runner = web.ServerRunner(_server(self._handle), shutdown_timeout=0.01)
        self._port = 0

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0, backlog=1024).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        await self._runner.cleanup()

    @property
    def environ(self) -> dict[str, str]:
        """The environment variables that point the official SDKs, and most other clients, here."""
        variables = {}
        for provider in catalog.providers().values():
            variables[provider.base_url_variable] = f"{self.origin}/{provider.name}{_ROOTS[provider.name]}"
            variables[provider.key_variable] = self.token
        return variables

    @property
    def origin(self) -> str:
        """The address without a path."""
        return f"http://{HOST}:{self._port}"

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if (service := self._services.get(request.path.rstrip("/"))) is not None:
            return await self._serve(request, service)
        provider, path = _provider_and_path(request.raw_path)
        if provider not in _ROOTS:
            return _refused("openai", 404, "Nothing is served at this path.")
        if not self._is_authorised(request.headers):
            return _refused(provider, 401, "This gateway serves one run, and this is not the token of that run.")
        if request.method not in _METHODS:
            return _refused(provider, 405, f"{request.method} is not forwarded.")
        return await self._forward(request, provider, path)

    async def _serve(self, request: web.BaseRequest, service: McpService) -> web.StreamResponse:
        """Answer a message to one of the MCP servers. There are no streams and sessions, so no GET and no DELETE."""
        if not self._is_authorised(request.headers):
            return _refused("openai", 401, "This gateway serves one run, and this is not the token of that run.")
        if request.method != "POST":
            return web.Response(status=405, headers={"allow": "POST"})
        response = await service.respond(await request.read())
        if response.message is None:
            return web.Response(status=response.status)
        return web.Response(
            status=response.status, body=json_codec.dumps(response.message), content_type="application/json"
        )

    def _is_authorised(self, headers: Mapping[str, str]) -> bool:
        tokens = headers.get("authorization", "").removeprefix("Bearer "), headers.get("x-api-key", "")
        expected = self.token.encode()
        return any(hmac.compare_digest(token.encode(errors="surrogateescape"), expected) for token in tokens)

    async def _forward(self, request: web.BaseRequest, provider: str, path: str) -> web.StreamResponse:
        bare_path = path.partition("?")[0]
        body = _body(await request.read())
        self._calls += 1
        is_chat = request.method == "POST" and (provider, bare_path) in _CHAT_PATHS
        call = Call(self._calls, provider, bare_path, _without_stream(body), is_chat)
        stream = _Stream.requested(request, provider, bare_path, body)
        try:
            self._listener.requested(call)
            self._check(request, call, body, stream)
            headers = _headers(provider, request, self.token)
            streaming = None if stream is None else stream.streaming
            reply = await self._wire.send(
                WireRequest(provider, path, call.body, headers, self._lane, request.method, streaming=streaming)
            )
            content = _readable(reply.body)
            if stream is not None and not stream.has_begun and reply.status == 200:
                content = stream.from_whole(content)
        except SalvoError as error:
            self._listener.failed(call, error)
            return await _failed(error, provider, stream)
        self._listener.answered(call, reply)
        if stream is not None and stream.has_begun:
            return await stream.end()
        return _response(reply, content, streamed=stream is not None and reply.status == 200)

    def _check(self, request: web.BaseRequest, call: Call, body: Any, stream: _Stream | None) -> None:
        """Raise a RequestRefusedError for what is not forwarded."""
        if request.headers.get("upgrade", "").lower() == "websocket":
            raise RequestRefusedError(
                f"The program opens a WebSocket at {call.path}, which is not supported: the Realtime API cannot be "
                "recorded or replayed.",
                hint="Use Chat Completions, Responses or Messages, with or without streaming.",
                status=501,
            )
        self._paths.check(call.provider, request.method, call.path)
        if isinstance(body, bytes) and self._paths.asks_model(call.provider, request.method, call.path):
            raise RequestRefusedError(
                f"The program sent something to {call.path} that is not JSON; only JSON is forwarded."
            )
        if stream is None and isinstance(body, dict) and body.get("stream"):
            raise RequestRefusedError(
                f"Salvo cannot stream the replies of {call.path}; send the request without `stream`."
            )


class _Stream:
    """A reply that a program wants as a stream: passed on as it arrives, or made from a whole reply."""

    def __init__(self, request: web.BaseRequest, body: dict[str, Any], path: str, write_events: _WriteEvents) -> None:
        options = body.get("stream_options")
        self.streaming = Streaming(self._write, options if isinstance(options, dict) else {})
        self._request = request
        self._body = body
        self._path = path
        self._write_events = write_events
        self._response: web.StreamResponse | None = None

    @classmethod
    def requested(cls, request: web.BaseRequest, provider: str, path: str, body: Any) -> _Stream | None:
        """Return the stream that a request asks for; None if it asks for none, or for one that cannot be made."""
        write_events = _STREAMS.get((provider, path)) if request.method == "POST" else None
        if write_events is None or not isinstance(body, dict) or not body.get("stream"):
            return None
        return cls(request, body, path, write_events)

    @property
    def has_begun(self) -> bool:
        return self._response is not None

    async def _write(self, content: bytes, headers: Mapping[str, str]) -> None:
        # If a program stops waiting for an answer, the answer still costs money, so it is awaited and counted.
        with suppress(ConnectionError):
            if self._response is None:
                self._response = web.StreamResponse(headers={**_reply_headers(headers), **_STREAM_HEADERS})
                await self._response.prepare(self._request)
            await self._response.write(content)

    async def end(self, content: bytes | None = None) -> web.StreamResponse:
        """Write the end that was held back, or another one, to a stream that has begun."""
        response = self._response or web.StreamResponse()
        with suppress(ConnectionError):
            await response.write(b"".join(self.streaming.tail) if content is None else content)
            await response.write_eof()
        return response

    def from_whole(self, content: bytes) -> bytes:
        """Return a whole reply as a stream."""
        try:
            reply = json_codec.loads(content, nan=True)
            if not isinstance(reply, dict):
                raise ValueError("it is not a JSON object")  # noqa: TRY004 - every error in a reply is a ValueError
            return self._write_events(reply, self._body)
        except ValueError as error:
            message = f"The answer of the provider cannot be streamed: {error}."
            raise BadReplyError(message, status=_BAD_GATEWAY) from error

    def from_partial(self, content: bytes) -> bytes:
        """Return what a program got of a stream that broke off."""
        protocol = stream_protocol(self._path)
        return unfinished_stream(self.from_whole(content), protocol.is_end) if protocol else b""


_ROOTS = {"openai": "/v1", "anthropic": ""}
"""The prefix of a provider's paths in its clients."""

_BAD_GATEWAY = 502
"""The status where no reply of the provider can be forwarded."""

_WriteEvents: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], bytes]

_CHAT_PATHS = frozenset({("openai", "/chat/completions"), ("openai", RESPONSES_PATH), ("anthropic", "/v1/messages")})
"""The paths that ask a model, whose requests and replies are part of the conversation."""

_STREAMS: dict[tuple[str, str], _WriteEvents] = {
    ("openai", "/chat/completions"): openai_stream,
    ("openai", "/completions"): completion_stream,
    ("openai", RESPONSES_PATH): lambda reply, _: response_stream(reply),
    ("anthropic", "/v1/messages"): lambda reply, _: anthropic_stream(reply),
}
"""The paths whose replies can be streamed, and the function that turns a reply to a request into a stream."""

_STREAM_HEADERS = {"content-type": f"{EVENT_STREAM}; charset=utf-8", "cache-control": "no-cache"}


def _server(handler: Any) -> web.Server:
    def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_MAX_REQUEST)

    return web.Server(handler, request_factory=request, access_log=None)


def _provider_and_path(raw_path: str) -> tuple[str, str]:
    """Return the provider, and its path with the query: /openai/v1/models is the path /models of openai."""
    provider, _, rest = raw_path.removeprefix("/").partition("/")
    root, path = _ROOTS.get(provider, ""), f"/{rest}"
    return provider, path.removeprefix(root) if path.startswith(f"{root}/") else path


def _body(content: bytes) -> Any:
    """Return the parsed JSON; the bytes where the content is not JSON."""
    try:
        return json_codec.loads(content, nan=True) if content else None
    except ValueError:
        return content


def _without_stream(body: Any) -> Any:
    """Return the request without streaming, so that a recording does not depend on how the client reads."""
    if not isinstance(body, dict) or "stream" not in body:
        return body
    return {name: value for name, value in body.items() if name not in ("stream", "stream_options")}


def _headers(provider: str, request: web.BaseRequest, token: str) -> dict[str, str]:
    """Return all headers of a request except those of its connection and its credentials."""
    dropped = _NOT_FORWARDED.union(name.strip().lower() for name in request.headers.get("connection", "").split(","))
    lower = ((name.lower(), value) for name, value in request.headers.items())
    headers = {name: value for name, value in lower if name not in dropped and token not in value}
    return {**_VERSION, **headers} if provider == "anthropic" else headers


def _readable(body: bytes) -> bytes:
    """Return the body so that a client can read it: a tape has hashes instead of reasoning."""
    if b'"sha256"' not in body:
        return body
    try:
        value = json_codec.loads(body, nan=True)
    except ValueError:
        return body
    readable = with_placeholder_texts(value)
    return body if readable is value else json_codec.dumps(readable)


def _response(reply: WireReply, content: bytes, *, streamed: bool) -> web.Response:
    headers = _reply_headers(reply.headers)
    if streamed:
        headers |= _STREAM_HEADERS
    elif reply.status >= 400:
        headers |= _NO_RETRY
    return web.Response(status=reply.status, body=content, headers=headers)


def _reply_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in _REPLY_HEADERS if name in headers}


async def _failed(error: SalvoError, provider: str, stream: _Stream | None) -> web.StreamResponse:
    """Return the error to the program. A stream that has begun, now or when it was recorded, ends with it."""
    event = error_event(_error_body(provider, str(error)))
    if stream is not None and stream.has_begun:
        return await stream.end(event)
    if stream is not None and isinstance(error, StreamCutError) and error.partial is not None:
        content = stream.from_partial(_readable(error.partial)) + event
        return web.Response(body=content, headers=_STREAM_HEADERS)
    return _refused(provider, getattr(error, "status", None) or _BAD_GATEWAY, str(error))


_NO_RETRY = {"x-should-retry": "false"}
"""Retries were made already. The official SDKs respect this header."""


def _refused(provider: str, status: int, message: str) -> web.Response:
    """Return an error in the format of the provider, so that any client understands it."""
    headers = {"content-type": "application/json", **_NO_RETRY}
    return web.Response(status=status, body=json_codec.dumps(_error_body(provider, message)), headers=headers)


def _error_body(provider: str, message: str) -> dict[str, Any]:
    error = {"type": "salvo_error", "message": message}
    return {"type": "error", "error": error} if provider == "anthropic" else {"error": {**error, "code": None}}
