"""The loopback provider: a real HTTP server that answers as the test's script says."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.support.background import BackgroundServer
from tests.support.provider.anthropic_protocol import AnthropicDialect
from tests.support.provider.batches import BatchEndpoints, How, StoredBatch
from tests.support.provider.certificate import LoopbackCertificate
from tests.support.provider.dialect import ApiError, Dialect
from tests.support.provider.openai_protocol import OpenAIDialect
from tests.support.provider.request import ProviderRequest
from tests.support.provider.responses_protocol import ResponsesDialect
from tests.support.provider.script import Fault, Scripted, as_script
from tests.support.provider.streams import error_event, events_of
from tests.support.provider.wire_faults import WIRE_FAULTS

HOST = "127.0.0.1"
LARGEST_REQUEST = 32 * 1024 * 1024  # Anthropic's limit


class LoopbackProvider(BackgroundServer):
    """Speaks OpenAI Chat Completions and Responses, and Anthropic Messages, on one loopback port.

    What the real API would refuse is refused before the script sees it; `asked` holds it all the same.
    A script that raises makes the `with` block raise it, so an assertion in a script fails its test.
    """

    def __init__(self, script: Scripted, latency: float = 0.0, tls: bool | None = None, *, port: int = 0) -> None:
        super().__init__()
        self.requests: list[ProviderRequest] = []
        self.latency = latency
        self.linger = 0.0
        """Seconds from the last event of a stream until the connection shows that it was the last."""
        self.most_at_once = 0
        """The largest number of requests that were under way at the same time."""
        self._script = as_script(script)
        self._wanted_port = port
        self._certificate: LoopbackCertificate | None = None
        self._tls = bool(tls)
        self._openai = OpenAIDialect()
        self._anthropic = AnthropicDialect()
        self._dialects: dict[str, Dialect] = {d.path: d for d in (self._openai, ResponsesDialect(), self._anthropic)}
        self._request_ids = count(1)
        self._under_way = 0
        self._broken_script: Exception | None = None
        self._room: int | None = None
        self._half_way = asyncio.Event()
        self._half_way.set()
        self._go = asyncio.Event()
        self.batch_api = BatchEndpoints(self._answer_item)

    def play(self, script: Scripted) -> None:
        """Answer by another script from now on; what was asked until now is forgotten."""
        self._script = as_script(script)
        self.requests.clear()

    def hold(self, after: int = 0) -> None:
        """Answer so many more requests; the others wait for `let_go`."""
        self._room = after

    def let_go(self) -> None:
        self._room = None
        self._loop.call_soon_threadsafe(self._release)

    def hold_streams(self) -> None:
        """Stop each stream half-way until `let_streams_go`."""
        self._half_way.clear()

    def let_streams_go(self) -> None:
        self._loop.call_soon_threadsafe(self._half_way.set)

    def end_batch(self, batch: StoredBatch, how: How = "completed") -> None:
        asyncio.run_coroutine_threadsafe(self.batch_api.end(batch, how), self._loop).result()

    def end_batches(self, how: How = "completed") -> None:
        """End every batch that is still being worked on."""
        for batch in self.batch_api.batches:
            if batch.status == "in_progress":
                self.end_batch(batch, how)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{HOST}:{self.port}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return self.url

    @property
    def ca_file(self) -> Path:
        """What SSL_CERT_FILE must name for a client to trust this provider."""
        assert self._certificate is not None, "only a provider with tls=True has a certificate"
        return self._certificate.ca_file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._broken_script is None:
            return
        if error is None:
            raise self._broken_script
        error.add_note(f"The provider's script had raised {self._broken_script!r}")

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[int]:
        # The low-level server: a router and an application would cost more than answering does.
        server = web.Server(self._handle, request_factory=_request, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.01)  # 0 would wait for ever for an answer that hangs
        await runner.setup()
        async with AsyncExitStack() as resources:
            resources.push_async_callback(runner.cleanup)
            if self._tls:
                self._certificate = resources.enter_context(LoopbackCertificate())
            context = self._certificate.server_context() if self._certificate else None
            await web.TCPSite(runner, HOST, self._wanted_port, ssl_context=context, backlog=1024).start()
            yield runner.addresses[0][1]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.batch_api.serves(request.path):
            return await self._handle_batch(request)
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        dialect = self._dialects.get(request.path) or self._nearest(request)
        request_id = f"req_{next(self._request_ids):024d}"
        headers = {dialect.request_id_header: request_id}
        try:
            return await self._answer(request, dialect, headers)
        except ApiError as failure:
            body = dialect.error_body(failure.error, request_id)
            return _json(body, failure.status, {**headers, **failure.headers})
        finally:
            self._under_way -= 1

    async def _handle_batch(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self.batch_api.handle(request)
        except Exception as error:  # an assertion about a request is the test's
            self._broken_script = self._broken_script or error
            raise

    async def _answer_item(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer an item of a batch as a direct request is answered. It is among the requests, without a connection."""
        dialect = self._dialects[path]
        headers = {"anthropic-version": "2023-06-01"}  # those of the batch
        asked = ProviderRequest(dialect.name, body, headers, "of a batch", time.monotonic(), 0)
        self.requests.append(asked)
        try:
            dialect.check(asked)
            prompt = dialect.prompt(asked)
            answer = self._script(asked)
            if isinstance(answer, Fault):
                raise dialect.error_for(answer, asked)
            return 200, dialect.reply(answer, asked, prompt)
        except ApiError as failure:
            return failure.status, dialect.error_body(failure.error, "req_of_batch")

    async def _answer(self, request: web.BaseRequest, dialect: Dialect, headers: dict[str, str]) -> web.StreamResponse:
        if request.method != "POST" or request.path != dialect.path:
            raise dialect.unknown_address(request.method, request.path)
        asked = await _read(request, dialect)
        self.requests.append(asked)
        try:
            dialect.check(asked)
        except (AttributeError, KeyError, TypeError) as error:  # a shape so wrong that no rule foresaw it
            raise dialect.unreadable() from error
        prompt = dialect.prompt(asked)
        try:
            answer = self._script(asked)
        except Exception as error:
            self._broken_script = self._broken_script or error
            raise dialect.error_for(Fault.server_error(), asked) from error
        if not isinstance(answer, Fault):
            body = dialect.reply(answer, asked, prompt)
            await self._wait(asked, answer.delay)
            if asked.body.get("stream"):
                return await self._stream(request, asked, body, headers, answer.cut)
            return _json(body, 200, headers)
        await self._wait(asked, answer.delay)
        if answer.kind in WIRE_FAULTS:
            return await WIRE_FAULTS[answer.kind](request, answer, headers)
        raise dialect.error_for(answer, asked)

    async def _stream(
        self,
        request: web.BaseRequest,
        asked: ProviderRequest,
        body: dict[str, Any],
        headers: dict[str, str],
        cut: str | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        await response.prepare(request)
        events = events_of(request.path, body, asked.body)
        for number, event in enumerate(events):
            if cut and number == len(events) // 2:
                if cut == "error":
                    await response.write(error_event(request.path))
                elif request.transport is not None:
                    request.transport.close()
                return response
            if number == len(events) // 2:
                await self._half_way.wait()
            await response.write(event)
        await asyncio.sleep(self.linger)
        return response

    async def _wait(self, asked: ProviderRequest, delay: float) -> None:
        """Until it may go out. The latency is what a caller sees: our own work since it asked is a part of it."""
        if self._room:
            self._room -= 1
        elif self._room == 0:
            await self._go.wait()
        await asyncio.sleep(max(0.0, asked.arrived + self.latency + delay - time.monotonic()))

    def _release(self) -> None:
        self._go.set()
        self._go = asyncio.Event()

    def _nearest(self, request: web.BaseRequest) -> Dialect:
        """Who answers at an address where nothing is served."""
        return self._anthropic if "anthropic-version" in request.headers else self._openai


async def _read(request: web.BaseRequest, dialect: Dialect) -> ProviderRequest:
    arrived = time.monotonic()
    try:
        body = json.loads(await request.read())
    except ValueError:
        raise dialect.unreadable() from None
    if not isinstance(body, dict):
        raise dialect.unreadable()
    headers = {name.lower(): value for name, value in request.headers.items()}
    peer = request.transport.get_extra_info("peername") if request.transport else None
    return ProviderRequest(
        protocol=dialect.name,
        body=body,
        headers=headers,
        key=dialect.key(headers),
        arrived=arrived,
        connection=peer[1] if peer else 0,
    )


def _json(body: dict[str, Any], status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), status=status, headers=headers, content_type="application/json")


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    return web.BaseRequest(
        message, payload, protocol, writer, task, asyncio.get_running_loop(), client_max_size=LARGEST_REQUEST
    )
