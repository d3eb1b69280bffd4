"""A client of one MCP server: it agrees on a protocol, lists the tools and calls them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from typing import Protocol as Interface

from salvo.engine.jsonio import json_codec
from salvo.engine.mcp import protocol
from salvo.engine.mcp.http import HttpTarget, HttpTransport
from salvo.engine.mcp.listing import ServerListing
from salvo.engine.mcp.protocol import HANDSHAKE, HANDSHAKES, MODERN, CallResult, Message, Protocol
from salvo.engine.mcp.stdio import StdioTarget, StdioTransport
from salvo.engine.text.formatting import truncate
from salvo.engine.text.messages import excerpt
from salvo.engine.wire.base import Wire
from salvo.errors import McpAnswerError, McpError
from salvo.records import record

MAX_TOOLS = 10_000
MAX_LIST = 64 * 1024 * 1024
"""Characters of all pages of a list of tools."""
_MAX_PAGES = 1_000
_MAX_NAME = 200
"""Characters of the name and of the version of a server that are kept."""
_WITH_HANDSHAKE = "a protocol with a handshake"
_MAX_PROBE = 10.0
"""Seconds for the first question. A server of an earlier version may not answer it at all."""


class Transport(Interface):
    """How messages reach a server."""

    @property
    def list_changed(self) -> bool: ...

    async def request(self, message: Message, headers: Mapping[str, str]) -> Message:
        """Return the answer to a request. Raise McpError if there is none."""
        ...

    async def notify(self, message: Message, headers: Mapping[str, str]) -> None: ...

    async def close(self) -> None: ...


@record
class ServerSettings:
    """How a server is reached, how long an answer may take, and which protocol it speaks."""

    name: str
    target: StdioTarget | HttpTarget
    seconds: float = 30.0
    protocol: Protocol = "auto"


@dataclass(slots=True)
class McpClient:
    """A connection to a server. Requests may be made concurrently."""

    settings: ServerSettings
    transport: Transport
    version: str = ""
    """The version of the protocol that both speak."""
    _server: Mapping[str, Any] = field(default_factory=dict)
    _instructions: str = ""
    _schemas: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @classmethod
    async def connect(cls, settings: ServerSettings, wire: Wire) -> Self:
        """Start or reach the server, and agree on a protocol."""
        target = settings.target
        transport: Transport = (
            await StdioTransport.start(settings.name, target)
            if isinstance(target, StdioTarget)
            else HttpTransport(settings.name, target, wire)
        )
        client = cls(settings, transport)
        try:
            await client._agree()
        except BaseException:
            await transport.close()
            raise
        return client

    async def close(self) -> None:
        await self.transport.close()

    async def list_tools(self) -> ServerListing:
        """Return what the server lists now, all pages of it, in the time for one answer."""
        deadline = asyncio.timeout(self.settings.seconds)
        try:
            async with deadline:
                tools = await self._all_pages()
        except TimeoutError:
            if not deadline.expired():
                raise
            raise self._no_answer("tools/list", self.settings.seconds) from None
        self._schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
        name, version = (truncate(str(self._server.get(key) or ""), _MAX_NAME) for key in ("name", "version"))
        return ServerListing(name, version, self.version, tools, self._instructions)

    async def _all_pages(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        cursor: Any = None
        size = 0
        for _ in range(_MAX_PAGES):
            result = await self._request("tools/list", {} if cursor is None else {"cursor": cursor})
            page = protocol.listed_tools(result, self.settings.name)
            tools += page
            size += len(json_codec.dumps(page))
            cursor = result.get("nextCursor")
            if cursor is None or len(tools) > MAX_TOOLS or size > MAX_LIST:
                break
        if cursor is not None or len(tools) > MAX_TOOLS or size > MAX_LIST:
            raise McpError(
                f"The list of tools of the MCP server {self.settings.name} does not end: it has more than "
                f"{MAX_TOOLS:,} tools, {_MAX_PAGES:,} pages or {MAX_LIST:,} bytes."
            )
        return tools

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallResult:
        """Call a tool. Raise McpAnswerError if the server refuses the call, and McpError if it fails."""
        result = await self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        return protocol.call_result(result, self.settings.name, tool)

    async def _agree(self) -> None:
        protocol = self.settings.protocol
        if protocol == MODERN:
            await self._discover(self.settings.seconds)
        elif protocol == HANDSHAKE:
            await self._shake_hands()
        else:
            await self._try_both()

    async def _try_both(self) -> None:
        """Try the stateless protocol, then the handshake. Whatever is no stateless answer leads to the handshake."""
        try:
            await self._discover(min(self.settings.seconds, _MAX_PROBE))
        except _NoCommonVersionError:
            await self._shake_hands()
        except _NoAnswerError:
            try:
                await self._shake_hands()
            except _NoCommonVersionError as error:
                if error.code != protocol.UNSUPPORTED_VERSION:
                    raise
                # It was slow to start, and our first question has made it stateless since.
                await self._discover(self.settings.seconds)

    async def _discover(self, seconds: float) -> None:
        try:
            result = await self._request("server/discover", version=MODERN, seconds=seconds)
        except McpAnswerError as error:
            raise self._refused(
                f"the protocol of {MODERN}", f"it answers {truncate(error.answer, _MAX_NAME)!r}.", error.code
            ) from error
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or MODERN not in versions:
            raise self._refused(f"the protocol of {MODERN}", "it does not list this version.")
        meta = result.get(protocol.META)
        server = meta.get(protocol.SERVER_KEY) if isinstance(meta, dict) else None
        self._adopt(MODERN, server or result.get("serverInfo"), result.get("instructions"))

    async def _shake_hands(self) -> None:
        try:
            result = await self._request("initialize", protocol.initialization(), version="")
        except McpAnswerError as error:
            raise self._refused(
                _WITH_HANDSHAKE, f"it answers {truncate(error.answer, _MAX_NAME)!r}.", error.code
            ) from error
        version = result.get("protocolVersion")
        if version not in HANDSHAKES:
            raise self._refused(_WITH_HANDSHAKE, f"it offers {excerpt(version, 50)}.")
        self._adopt(version, result.get("serverInfo"), result.get("instructions"))
        await self.transport.notify(
            protocol.notification("notifications/initialized"), protocol.request_headers(self.version, {})
        )

    def _adopt(self, version: str, server: Any, instructions: Any) -> None:
        self.version = version
        self._server = server if isinstance(server, dict) else {}
        self._instructions = instructions if isinstance(instructions, str) else ""

    def _refused(self, what: str, reason: str, code: int = 0) -> _NoCommonVersionError:
        error = _NoCommonVersionError(
            f"The MCP server {self.settings.name} does not speak {what}: {reason}",
            hint=f"Check mcp_servers.{self.settings.name}.protocol; Salvo speaks {MODERN} and {', '.join(HANDSHAKES)}.",
        )
        error.code = code
        return error

    async def _request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        version = self.version if version is None else version
        seconds = self.settings.seconds if seconds is None else seconds
        message = protocol.request(next(self._numbers), method, params, version=version)
        schema = self._schemas.get(params["name"]) if params and method == "tools/call" else None
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                reply = await self.transport.request(message, protocol.request_headers(version, message, schema))
        except TimeoutError:
            if not deadline.expired():
                raise
            raise self._no_answer(method, seconds) from None
        return protocol.read_answer(reply, self.settings.name, method)

    def _no_answer(self, method: str, seconds: float) -> _NoAnswerError:
        return _NoAnswerError(
            f"The MCP server {self.settings.name} did not answer {method} within {seconds:g} s.",
            hint=f"If it needs longer, set mcp_servers.{self.settings.name}.timeout.",
        )


class _NoCommonVersionError(McpError):
    """A server does not speak a version of the protocol."""

    code = 0


class _NoAnswerError(McpError):
    """A server did not answer in time."""
