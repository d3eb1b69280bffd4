"""The gateway: a loopback server that offers the APIs of the providers to a program with its own client.

Requests of the program go over the wire of its run, so they are retried, recorded, replayed and priced like all others,
and the key stays in this process. The program gets a token that is valid only for this gateway.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

from aiohttp import web

from salvo.engine.chat import catalog
from salvo.engine.chat.openai import RESPONSES_PATH
from salvo.engine.gateway.paths import PathRules
from salvo.engine.gateway.sse import anthropic_stream, openai_stream, response_stream
from salvo.engine.jsonio import json_codec
from salvo.engine.mcp.server import McpService
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.engine.wire.reasoning_redaction import with_placeholder_texts
from salvo.errors import BadReplyError, RequestRefusedError, SalvoError

HOST = "127.0.0.1"
_MAX_REQUEST = 64 * 1024 * 1024
_FORWARDED_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
_REPLY_HEADERS = ("content-type", "request-id", "x-request-id")
_VERSION = {"anthropic-version": "2023-06-01"}
"""For clients that do not send it; the API requires it."""


@dataclass(frozen=True, slots=True)
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
        if request.method not in ("GET", "POST"):
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
        return any(hmac.compare_digest(token.encode(), self.token.encode()) for token in tokens)

    async def _forward(self, request: web.BaseRequest, provider: str, path: str) -> web.StreamResponse:
        bare_path = path.partition("?")[0]
        stream = _STREAMS.get((provider, bare_path)) if request.method == "POST" else None
        body = _body(await request.read())
        wants_stream = isinstance(body, dict) and bool(body.get("stream"))
        self._calls += 1
        call = Call(self._calls, provider, bare_path, _without_stream(body), stream is not None)
        try:
            self._listener.requested(call)
            self._paths.check(provider, request.method, bare_path)
            _check(call, body)
            reply = await self._wire.send(
                WireRequest(provider, path, call.body, _headers(provider, request), self._lane, request.method)
            )
            content = _readable(reply)
            if wants_stream and stream is not None and reply.status == 200:
                content = _streamed(content, body, stream)
        except SalvoError as error:
            self._listener.failed(call, error)
            return _refused(provider, getattr(error, "status", None) or _BAD_GATEWAY, str(error))
        self._listener.answered(call, reply)
        return _response(reply, content, streamed=wants_stream and reply.status == 200)


_ROOTS = {"openai": "/v1", "anthropic": ""}
"""The prefix of a provider's paths in its clients."""

_BAD_GATEWAY = 502
"""The status where no reply of the provider can be forwarded."""

_Stream: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], bytes]

_STREAMS: dict[tuple[str, str], _Stream] = {
    ("openai", "/chat/completions"): openai_stream,
    ("openai", RESPONSES_PATH): lambda reply, _: response_stream(reply),
    ("anthropic", "/v1/messages"): lambda reply, _: anthropic_stream(reply),
}
"""The paths that ask a model, and the function that turns a reply to a request into a stream."""


def _server(handler: Any) -> web.Server:
    def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_MAX_REQUEST)

    # If a program stops waiting for an answer, the answer still costs money, so it is awaited and counted.
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
    """Return the request without streaming, so that the recording does not depend on how the client reads."""
    if not isinstance(body, dict) or "stream" not in body:
        return body
    return {name: value for name, value in body.items() if name not in ("stream", "stream_options")}


def _check(call: Call, body: Any) -> None:
    if isinstance(body, bytes):
        raise RequestRefusedError(
            f"The program sent something to {call.path} that is not JSON; only JSON is forwarded."
        )
    if not call.is_chat and isinstance(body, dict) and body.get("stream"):
        raise RequestRefusedError(f"Salvo cannot stream the replies of {call.path}; send the request without `stream`.")


def _headers(provider: str, request: web.BaseRequest) -> dict[str, str]:
    headers = {name: request.headers[name] for name in _FORWARDED_HEADERS if name in request.headers}
    return {**_VERSION, **headers} if provider == "anthropic" else headers


def _readable(reply: WireReply) -> bytes:
    """Return the body so that a client can read it: a tape has hashes instead of reasoning."""
    if b'"sha256"' not in reply.body:
        return reply.body
    try:
        body = reply.json()
    except ValueError:
        return reply.body
    readable = with_placeholder_texts(body)
    return reply.body if readable is body else json_codec.dumps(readable)


def _streamed(content: bytes, request: dict[str, Any], stream: _Stream) -> bytes:
    try:
        reply = json_codec.loads(content, nan=True)
        if not isinstance(reply, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - every error in a reply is a ValueError
        return stream(reply, request)
    except ValueError as error:
        raise BadReplyError(f"The answer of the provider cannot be streamed: {error}.", status=_BAD_GATEWAY) from error


def _response(reply: WireReply, content: bytes, *, streamed: bool) -> web.Response:
    headers = {name: reply.headers[name] for name in _REPLY_HEADERS if name in reply.headers}
    if streamed:
        headers |= {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    elif reply.status >= 400:
        headers |= _NO_RETRY
    return web.Response(status=reply.status, body=content, headers=headers)


_NO_RETRY = {"x-should-retry": "false"}
"""Retries were made already. The official SDKs respect this header."""


def _refused(provider: str, status: int, message: str) -> web.Response:
    """Return an error in the format of the provider, so that any client understands it."""
    error = {"type": "salvo_error", "message": message}
    body = {"type": "error", "error": error} if provider == "anthropic" else {"error": {**error, "code": None}}
    headers = {"content-type": "application/json", **_NO_RETRY}
    return web.Response(status=status, body=json_codec.dumps(body), headers=headers)
