"""A plain HTTP client: it sends what no SDK would send, and shows what an SDK hides."""

import asyncio
import io
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import aiohttp

from tests.support.provider import LoopbackProvider

ASKING = [{"role": "user", "content": "Where is my parcel?"}]
OPENAI_BODY: dict[str, Any] = {"model": "gpt-4.1", "messages": ASKING}
ANTHROPIC_BODY: dict[str, Any] = {"model": "claude-sonnet-4-6", "max_tokens": 1024, "messages": ASKING}
OPENAI_HEADERS = {"authorization": "Bearer sk-test-0123456789"}
ANTHROPIC_HEADERS = {"x-api-key": "sk-ant-test-0123456789", "anthropic-version": "2023-06-01"}


class HttpResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> Any:
        return self.body["error"]


@asynccontextmanager
async def http_session(**options: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that reuses no connection which the server may be closing, and at its end has no open socket.

    The server closes a connection that was idle for 5 seconds. A POST on it is not sent again. What the server did not
    read of a body that it refused keeps a connection open after the session is closed.
    """
    sockets: list[socket.socket] = []

    def new_socket(address: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, _ = address
        sockets.append(socket.socket(family, kind, protocol))
        return sockets[-1]

    connector = aiohttp.TCPConnector(keepalive_timeout=1, socket_factory=new_socket)
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60), connector=connector, **options) as session:
            yield session
    finally:
        await _close_all(sockets)


async def _close_all(sockets: Sequence[socket.socket]) -> None:
    while still_open := [one for one in sockets if one.fileno() != -1]:
        for one in still_open:
            with suppress(OSError):  # the server was faster
                one.shutdown(socket.SHUT_RDWR)
        await asyncio.sleep(0.001)


async def post(url: str, body: Any, headers: dict[str, str], **options: Any) -> HttpResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **headers}
    async with (
        http_session() as session,
        session.post(url, data=io.BytesIO(data), headers=headers, allow_redirects=False, **options) as response,
    ):
        received = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status, received, await response.read())


async def ask_openai(provider: LoopbackProvider, **request: Any) -> HttpResponse:
    return await post(f"{provider.openai_url}/chat/completions", {**OPENAI_BODY, **request}, OPENAI_HEADERS)


async def ask_anthropic(provider: LoopbackProvider, version: str = "2023-06-01", **request: Any) -> HttpResponse:
    headers = {**ANTHROPIC_HEADERS, "anthropic-version": version}
    return await post(f"{provider.anthropic_url}/v1/messages", {**ANTHROPIC_BODY, **request}, headers)
