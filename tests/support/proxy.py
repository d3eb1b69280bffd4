"""An HTTP proxy on loopback, to see whether a client goes through it."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from tests.support.background import BackgroundServer

HOST = "127.0.0.1"
END_OF_HEAD = b"\r\n\r\n"
# They concern this hop alone. Without them, one connection carries one request, and one rewrite is enough.
HOP_HEADERS = (b"connection:", b"proxy-connection:", b"proxy-authorization:")


class ConnectProxy(BackgroundServer):
    """Tunnels CONNECT, forwards plain requests with an absolute URI, and remembers both."""

    def __init__(self) -> None:
        super().__init__()
        self.tunnels: list[str] = []
        """Where tunnels were asked to, as host:port."""
        self.forwards: list[str] = []
        """Which URLs were asked for in plain."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._handle, HOST, 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()

    async def _handle(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(END_OF_HEAD)
            method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
            if method == "CONNECT":
                await self._tunnel(target, reader, writer)
            else:
                await self._forward(target, head, reader, writer)
        writer.close()

    async def _tunnel(self, target: str, reader: StreamReader, writer: StreamWriter) -> None:
        self.tunnels.append(target)
        host, _, port = target.rpartition(":")
        there = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _join((reader, writer), there)

    async def _forward(self, target: str, head: bytes, reader: StreamReader, writer: StreamWriter) -> None:
        self.forwards.append(target)
        url = urlsplit(target)
        there = await asyncio.open_connection(url.hostname, url.port or 80)
        there[1].write(_in_origin_form(head, url._replace(scheme="", netloc="").geturl() or "/"))
        await _join((reader, writer), there)


async def _join(here: tuple[StreamReader, StreamWriter], there: tuple[StreamReader, StreamWriter]) -> None:
    """Pass on what each side says, until one of them is done."""
    directions = [asyncio.ensure_future(_pump(here[0], there[1])), asyncio.ensure_future(_pump(there[0], here[1]))]
    try:
        await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for direction in directions:
            direction.cancel()
        there[1].close()


async def _pump(source: StreamReader, target: StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()


def _in_origin_form(head: bytes, path: str) -> bytes:
    request, *headers = head.removesuffix(END_OF_HEAD).split(b"\r\n")
    method, _, version = request.split(b" ")
    kept = [header for header in headers if not header.lower().startswith(HOP_HEADERS)]
    lines = [b" ".join((method, path.encode(), version)), *kept, b"connection: close"]
    return b"\r\n".join(lines) + END_OF_HEAD
