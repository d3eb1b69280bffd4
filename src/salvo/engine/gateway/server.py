"""The gateway: a loopback address that speaks both protocols, for a program that brings its own client.

What the program sends goes over the wire of its run, so it is retried, recorded, replayed and priced like everything
else, and the key stays in this process. The program holds a token that is good for this gateway alone.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from aiohttp import web

from salvo.engine.chat import catalog, openai_responses
from salvo.engine.gateway.responses_sse import response_stream
from salvo.engine.gateway.sse import anthropic_stream, openai_stream
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.engine.wire.reasoning_redaction import with_placeholder_texts
from salvo.errors import BadReplyError, RequestRefusedError, SalvoError

HOST = "127.0.0.1"
_LARGEST_REQUEST = 64 * 1024 * 1024
_SENT_ON = ("anthropic-version", "anthropic-beta", "openai-beta")
_SENT_BACK = ("content-type", "request-id", "x-request-id")
_VERSION = {"anthropic-version": "2023-06-01"}
"""Where a client names none; the API answers nobody without."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request of the program's: the how-manieth, to which provider, and what it says."""

    number: int
    provider: str
    path: str
    body: Any
    is_chat: bool
    """Whether a model is asked; a list of models or a count of tokens is none of the conversation."""


class Listener(Protocol):
    """Who watches the traffic. Each call is told twice: when it is asked, and how it ended."""

    def asked(self, call: Call) -> None:
        """May raise a SalvoError: then nothing is sent, and the program is told."""
        ...

    def answered(self, call: Call, reply: WireReply) -> None: ...

    def failed(self, call: Call, error: SalvoError) -> None:
        """No reply came back that could be handed on."""
        ...


class Gateway:
    """Serves one program while the `async with` block lasts."""

    def __init__(self, wire: Wire, listener: Listener, *, lane: str) -> None:
        self._wire = wire
        self._listener = listener
        self._lane = lane
        # With a prefix that clients may look for, and that redaction knows, should the program print it.
        self._token = f"sk-salvo-{os.urandom(24).hex()}"
        self._calls = 0
        self._runner: web.ServerRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        runner = web.ServerRunner(_server(self._handle), shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, HOST, 0, backlog=1024).start()
        self._runner, self._port = runner, runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def environ(self) -> dict[str, str]:
        """What leads the official SDKs, and most other clients, here."""
        variables = {}
        for provider in catalog.providers().values():
            variables[provider.base_url_variable] = f"http://{HOST}:{self._port}/{provider.name}{_ROOTS[provider.name]}"
            variables[provider.key_variable] = self._token
        return variables

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        provider, path = _place(request.raw_path)
        if provider not in _ROOTS:
            return _refused("openai", 404, f"Nothing is served at {request.path}.")
        if not self._is_let_in(request.headers):
            return _refused(provider, 401, "This gateway serves one run, and this is not the token of that run.")
        if request.method not in ("GET", "POST"):
            return _refused(provider, 405, f"{request.method} is not handed on.")
        return await self._hand_on(request, provider, path)

    def _is_let_in(self, headers: Mapping[str, str]) -> bool:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return any(hmac.compare_digest(given.encode(), self._token.encode()) for given in (bearer, _key(headers)))

    async def _hand_on(self, request: web.BaseRequest, provider: str, path: str) -> web.StreamResponse:
        spoken = _SPOKEN.get((provider, path.partition("?")[0]))
        body = _body(await request.read())
        wants_stream = isinstance(body, dict) and bool(body.get("stream"))
        self._calls += 1
        call = Call(self._calls, provider, path, _whole(body), spoken is not None)
        try:
            self._listener.asked(call)
            _check(call, body, spoken)
            reply = await self._wire.send(
                WireRequest(provider, path, call.body, _headers(provider, request), self._lane, request.method)
            )
            content = _shown(reply)
            if wants_stream and spoken is not None and reply.status == 200:
                content = _streamed(content, spoken, body)
        except SalvoError as error:
            self._listener.failed(call, error)
            return _refused(provider, getattr(error, "status", None) or _STATUS, str(error))
        self._listener.answered(call, reply)
        return _response(reply, content, streamed=wants_stream and reply.status == 200)


_ROOTS = {"openai": "/v1", "anthropic": ""}
"""Where a provider's paths begin, as its clients have it."""

_STATUS = 502
"""For what is no reply of the provider's: it went wrong on the way."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A path that asks a model, and how its whole reply becomes a stream."""

    stream: Callable[[dict[str, Any], dict[str, Any]], bytes]


def _stream_of_chunks(reply: dict[str, Any], asked: dict[str, Any]) -> bytes:
    options = asked.get("stream_options")
    return openai_stream(reply, usage=isinstance(options, dict) and bool(options.get("include_usage")))


_SPOKEN = {
    ("openai", "/chat/completions"): _Spoken(_stream_of_chunks),
    ("openai", openai_responses.PATH): _Spoken(lambda reply, _: response_stream(reply)),
    ("anthropic", "/v1/messages"): _Spoken(lambda reply, _: anthropic_stream(reply)),
}


def _server(handler: Any) -> web.Server:
    def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_REQUEST)

    # A program that no longer waits for an answer has paid for it all the same: it is waited for, and counted.
    return web.Server(handler, request_factory=request, access_log=None)


def _place(raw_path: str) -> tuple[str, str]:
    """The provider, and the path as the wire has it, its query too: /openai/v1/models is openai's /models."""
    provider, _, rest = raw_path.removeprefix("/").partition("/")
    root = _ROOTS.get(provider, "")
    return provider, f"/{rest}".removeprefix(root) if root and f"/{rest}".startswith(f"{root}/") else f"/{rest}"


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("x-api-key", "")


def _body(content: bytes) -> Any:
    """The JSON; the bytes themselves where it is none."""
    try:
        return json_codec.loads(content, nan=True) if content else None
    except ValueError:
        return content


def _whole(body: Any) -> Any:
    """The same request for a whole reply: what is recorded does not depend on how the client wants it cut."""
    if not isinstance(body, dict) or "stream" not in body:
        return body
    return {name: value for name, value in body.items() if name not in ("stream", "stream_options")}


def _check(call: Call, body: Any, spoken: _Spoken | None) -> None:
    if isinstance(body, bytes):
        raise RequestRefusedError(
            f"The program sent something to {call.path} that is not JSON; only JSON is handed on."
        )
    if spoken is not None:
        return
    if isinstance(body, dict) and body.get("stream"):
        raise RequestRefusedError(f"Salvo cannot make a stream of what comes from {call.path}; ask without `stream`.")


def _headers(provider: str, request: web.BaseRequest) -> dict[str, str]:
    sent = {name: request.headers[name] for name in _SENT_ON if name in request.headers}
    return {**_VERSION, **sent} if provider == "anthropic" else sent


def _shown(reply: WireReply) -> bytes:
    """The reply as a client can read it: on a tape, stand-ins take the place of reasoning."""
    if b'"sha256"' not in reply.body:
        return reply.body
    try:
        body = reply.json()
    except ValueError:
        return reply.body
    readable = with_placeholder_texts(body)
    return reply.body if readable is body else json_codec.dumps(readable)


def _streamed(content: bytes, spoken: _Spoken, asked: dict[str, Any]) -> bytes:
    try:
        reply = json_codec.loads(content, nan=True)
        if not isinstance(reply, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - every flaw of a reply is a ValueError
        return spoken.stream(reply, asked)
    except ValueError as error:
        raise BadReplyError(f"The provider's answer cannot be made a stream: {error}.", status=_STATUS) from error


def _response(reply: WireReply, content: bytes, *, streamed: bool) -> web.Response:
    headers = {name: reply.headers[name] for name in _SENT_BACK if name in reply.headers}
    if streamed:
        headers |= {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    elif reply.status >= 400:
        headers |= _NO_RETRY
    return web.Response(status=reply.status, body=content, headers=headers)


_NO_RETRY = {"x-should-retry": "false"}
"""It was tried again already. The official SDKs heed this."""


def _refused(provider: str, status: int, message: str) -> web.Response:
    """An error in the provider's own shape, so that any client can tell it."""
    error = {"type": "salvo_error", "message": message}
    body = {"type": "error", "error": error} if provider == "anthropic" else {"error": {**error, "code": None}}
    headers = {"content-type": "application/json", **_NO_RETRY}
    return web.Response(status=status, body=json_codec.dumps(body), headers=headers)
