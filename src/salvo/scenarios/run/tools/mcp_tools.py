"""The tools of MCP servers: started for a run or a batch, listed, compared with the batch, and called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Self

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.jsonio.json_schema import check, problems_in_time
from salvo.engine.mcp.client import McpClient, ServerSettings
from salvo.engine.mcp.listing import ServerListing
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import gather
from salvo.engine.text.formatting import first_lines
from salvo.engine.wire.base import Wire
from salvo.errors import InputError, McpAnswerError, McpError
from salvo.records import record
from salvo.scenarios.result import COMMAND, MCP, Batch, ListedServer
from salvo.scenarios.run.tools.toolbox import Tool, ToolFailure
from salvo.scenarios.run.tools.yaml_tool import matches
from salvo.scenarios.spec.tool_schema import TOOL_NAME, McpServer, ToolResponse

_MAX_LISTED = 20
"""Names of tools in a message."""


@record
class PreparedServer:
    """An MCP server of a scenario, and how it is reached. Nothing is started yet."""

    spec: McpServer
    settings: ServerSettings

    @property
    def name(self) -> str:
        return self.settings.name


@record
class OpenServers:
    """The servers of one run: their tools, and what each of them lists of the tools that the agent gets."""

    tools: list[Tool] = field(default_factory=list)
    listings: dict[str, ServerListing] = field(default_factory=dict)
    clients: dict[str, McpClient] = field(default_factory=dict)

    async def check_changes(self, batch: Batch) -> None:
        """Raise McpError if a server said during the run that its tools changed, and they did."""
        for name, client in self.clients.items():
            if client.transport.list_changed:
                _compare(name, batch.mcp_servers[name], await client.list_tools())


class McpServers:
    """The MCP servers of all runs of a process. Those with the scope `batch` are started once and ended at the end."""

    def __init__(self, wire: Wire, clock: Clock, on_listed: Callable[[Batch, str], Awaitable[None]]) -> None:
        self._wire = wire
        self._clock = clock
        self._on_listed = on_listed
        self._shared: dict[tuple[str, str], asyncio.Future[McpClient]] = {}
        self._first_lists: dict[tuple[str, str], asyncio.Future[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        futures = list(self._shared.values())
        for future in futures:
            future.cancel()  # those that are still starting
        if futures:
            await asyncio.wait(futures)
        clients = [future.result() for future in futures if not future.cancelled() and future.exception() is None]
        await gather(client.close() for client in clients)

    async def open(
        self, batch: Batch, adapter: str, servers: Sequence[PreparedServer], stack: AsyncExitStack
    ) -> OpenServers:
        """Start the servers of a run and list their tools. Raise McpError if one fails or has changed its tools.

        What is started for this run is ended with the stack.
        """
        clients = await gather(self._connect(batch, server, stack) for server in servers)
        listings = await gather(client.list_tools() for client in clients)
        names_by_tool: dict[str, str] = {}
        opened = OpenServers()
        for server, client, listing in zip(servers, clients, listings, strict=True):
            await self._remember(batch, server.name, listing)
            chosen = _chosen(server, listing)
            opened.listings[server.name], opened.clients[server.name] = replace(listing, tools=chosen), client
            for tool in chosen:
                name = tool["name"]
                _check_tool(server, tool, adapter)
                if name in batch.tools or name in names_by_tool:
                    other = f"the MCP server {names_by_tool[name]}" if name in names_by_tool else "the scenario"
                    raise McpError(
                        f"The MCP server {server.name} and {other} both have a tool called {name}.",
                        hint=f"Choose the tools of the server with mcp_servers.{server.name}.tools.",
                    )
                names_by_tool[name] = server.name
                opened.tools.append(self._tool(server, client, tool, is_checked=adapter != MCP))
        return opened

    async def _connect(self, batch: Batch, server: PreparedServer, stack: AsyncExitStack) -> McpClient:
        if server.spec.scope == "run":
            client = await McpClient.connect(server.settings, self._wire)
            stack.push_async_callback(client.close)
            return client
        key = batch.batch_id, server.name
        if key not in self._shared:
            self._shared[key] = asyncio.ensure_future(McpClient.connect(server.settings, self._wire))
        # A run that is cancelled must not cancel the server of the others.
        return await asyncio.shield(self._shared[key])

    async def _remember(self, batch: Batch, name: str, listing: ServerListing) -> None:
        """Keep the first list of a batch, and compare every later one with it."""
        if name not in batch.mcp_servers:
            tools = {tool["name"]: stable_key(tool) for tool in listing.tools}
            batch.mcp_servers[name] = ListedServer(listing.name, listing.version, listing.protocol, tools)
            self._first_lists[batch.batch_id, name] = asyncio.ensure_future(self._on_listed(batch, name))
        # Another process may have been first. Then the list of the batch is another one afterwards.
        if (reported := self._first_lists.get((batch.batch_id, name))) is not None:
            await asyncio.shield(reported)
        _compare(name, batch.mcp_servers[name], listing)

    def _tool(self, server: PreparedServer, client: McpClient, tool: Mapping[str, Any], *, is_checked: bool) -> Tool:
        definition = ToolDefinition(tool["name"], str(tool.get("description") or ""), tool["inputSchema"])
        output_schema = tool.get("outputSchema") if is_checked else None
        mcp_tool = McpTool(definition, client, output_schema if isinstance(output_schema, dict) else None)
        faults = server.spec.faults.get(tool["name"])
        return FaultyTool(mcp_tool, list(faults), self._clock) if faults else mcp_tool


@record
class McpTool:
    """A tool of an MCP server."""

    definition: ToolDefinition
    client: McpClient
    output_schema: Mapping[str, Any] | None = None

    @property
    def server(self) -> str:
        return self.client.settings.name

    async def answer(self, arguments: dict[str, Any]) -> Any:
        name = self.definition.name
        try:
            result = await self.client.call(name, arguments)
        except McpAnswerError as error:
            raise ToolFailure(error.answer) from error
        if result.is_error:
            raise ToolFailure(result.text)
        if self.output_schema is not None and (problems := await problems_in_time(self.output_schema, result.value)):
            raise McpError(
                f"The MCP server {self.server} answered a call of {name} with what its own outputSchema does not "
                f"allow: {'; '.join(problems)}."
            )
        return result.value


@dataclass(slots=True)
class FaultyTool:
    """A tool of an MCP server, some of whose calls get what the scenario says instead."""

    inner: McpTool
    remaining: list[ToolResponse]
    clock: Clock
    _delays: int = 0

    @property
    def definition(self) -> ToolDefinition:
        return self.inner.definition

    @property
    def server(self) -> str | None:
        """The server that has to answer; none while a call waits as the scenario says."""
        return None if self._delays else self.inner.server

    async def answer(self, arguments: dict[str, Any]) -> Any:
        fault = next((item for item in self.remaining if item.when is None or matches(item.when, arguments)), None)
        if fault is None:
            return await self.inner.answer(arguments)
        # By identity: two faults may be equal, and each is used once.
        self.remaining = [item for item in self.remaining if item is not fault]
        if fault.delay:
            self._delays += 1
            await self.clock.sleep(fault.delay)
            self._delays -= 1
        if fault.error is not None:
            raise ToolFailure(fault.error)
        return await self.inner.answer(arguments) if fault.result is None else fault.result


def _compare(name: str, first: ListedServer, listing: ServerListing) -> None:
    tools = {tool["name"]: stable_key(tool) for tool in listing.tools}
    now = ListedServer(listing.name, listing.version, listing.protocol, tools)
    if changes := list(first.changes_to(now)):
        raise McpError(
            f"The MCP server {name} lists other tools than in the first run of this batch: "
            f"{', '.join(first_lines(changes, _MAX_LISTED))}.",
            hint="All runs of a batch must have the same tools; start a new batch.",
        )


def _chosen(server: PreparedServer, listing: ServerListing) -> list[dict[str, Any]]:
    """Return the tools that the scenario allows, in its order; all of them if it does not say."""
    tools = {tool["name"]: tool for tool in listing.tools}
    if len(tools) < len(listing.tools):
        raise McpError(f"The MCP server {server.name} lists two tools of the same name.")
    for wanted in (*(server.spec.tools or ()), *server.spec.faults):
        if wanted not in tools:
            raise McpError(
                f"The MCP server {server.name} has no tool called {wanted}.",
                hint=f"It lists: {', '.join(first_lines(sorted(tools), _MAX_LISTED)) or 'none'}.",
            )
    return list(tools.values()) if server.spec.tools is None else [tools[name] for name in server.spec.tools]


def _check_tool(server: PreparedServer, tool: Mapping[str, Any], adapter: str) -> None:
    """Raise McpError for a tool that no model can be given. The test of a server gives it to no model."""
    if adapter == MCP:
        return
    name = tool["name"]
    if adapter != COMMAND and not TOOL_NAME.fullmatch(name):
        raise McpError(
            f"The MCP server {server.name} has a tool called {name!r}, and providers take at most 64 letters, digits, "
            "_ and - as a name.",
            hint=f"Leave it out: list the others in mcp_servers.{server.name}.tools.",
        )
    if tool["inputSchema"].get("type") != "object":
        raise McpError(
            f"The MCP server {server.name} lists the tool {name} with an inputSchema of another type than object."
        )
    try:
        check(tool["inputSchema"])
    except InputError as error:
        raise McpError(
            f"The MCP server {server.name} lists the tool {name} with an invalid inputSchema: {error}"
        ) from error
