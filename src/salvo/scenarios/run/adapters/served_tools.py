"""The tools of a scenario, served to a program as MCP servers at its gateway.

Each call goes through the toolbox, so it is traced and recorded, and a replay answers it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio.canonical import stable_key
from salvo.engine.mcp.server import McpService, ServedResult
from salvo.errors import SalvoError
from salvo.scenarios.result import ToolCall
from salvo.scenarios.run.adapters.base import RunContext
from salvo.scenarios.run.adapters.program_trace import ProgramTrace

OWN = "salvo"
"""The name of the server with the scenario's own tools."""
_PATH = "/mcp"


class ServedTools:
    """The tools of one run: all of them at /mcp, those of one server at /mcp/NAME, the scenario's own at /mcp/salvo."""

    def __init__(self, context: RunContext, trace: ProgramTrace) -> None:
        self._context = context
        self._trace = trace
        self._first_call = len(context.toolbox.calls)
        tool_names = {name: {tool["name"] for tool in listing.tools} for name, listing in context.listings.items()}
        definitions = context.toolbox.definitions
        # In a replay there are only definitions, so a tool belongs to the server that listed it.
        self._by_server = {
            name: [definition for definition in definitions if definition.name in names]
            for name, names in tool_names.items()
        }
        served = {definition.name for tools in self._by_server.values() for definition in tools}
        own = [definition for definition in definitions if definition.name not in served]
        if own:
            self._by_server[OWN] = own

    def begin_turn(self, trace: ProgramTrace) -> None:
        """Begin another turn of a conversation with the same program."""
        self._trace = trace
        self._first_call = len(self._context.toolbox.calls)

    def services(self) -> dict[str, McpService]:
        """Return what is served at which path."""
        if not self._by_server:
            return {}
        services = {_PATH: self._service(self._context.toolbox.definitions)}
        for name, definitions in self._by_server.items():
            services[f"{_PATH}/{name}"] = self._service(definitions)
        return services

    def variables(self, origin: str, token: str) -> dict[str, str]:
        """Return the environment variables that lead a program here."""
        return {"SALVO_MCP_URL": f"{origin}{_PATH}", "SALVO_MCP_TOKEN": token} if self._by_server else {}

    def config(self, origin: str, token: str) -> dict[str, Any]:
        """Return the servers in the form of the configuration files that most programs read."""
        headers = {"Authorization": f"Bearer {token}"}
        return {
            "mcpServers": {
                name: {"type": "http", "url": f"{origin}{_PATH}/{name}", "headers": headers} for name in self._by_server
            }
        }

    def add_to(self, traffic: Sequence[ToolCall]) -> None:
        """Make the run's tool calls of those in the traffic with models and those that were made here.

        A call that a model asked for and that was made here is one call, and stands where the model asked for it.
        """
        toolbox = self._context.toolbox
        made_here = toolbox.calls[self._first_call :]
        remaining: dict[str, deque[ToolCall]] = {}
        for call in made_here:
            remaining.setdefault(stable_key([call.name, call.arguments]), deque()).append(call)
        merged: set[int] = set()
        outside: list[str] = []
        for call in traffic:
            keys = (stable_key([name, call.arguments]) for name in _names(call.name))
            candidates = next(filter(None, map(remaining.get, keys)), None)
            if candidates is None:
                outside.append(call.name)
                continue
            made = candidates.popleft()
            merged.add(id(made))
            call.seconds = call.seconds or made.seconds
            if call.result is None and call.error is None:
                call.result, call.error = made.result, made.error
        direct = [call for call in made_here if id(call) not in merged]
        for call in direct:
            self._context.journal.record_tool_call(call)
        toolbox.calls[self._first_call :] = [*traffic, *direct]
        toolbox.made_outside = list(dict.fromkeys([*toolbox.made_outside, *outside]))

    def _service(self, definitions: Sequence[ToolDefinition]) -> McpService:
        names = frozenset(definition.name for definition in definitions)
        return McpService(lambda: definitions, partial(self._call, names))

    async def _call(self, names: frozenset[str], name: str, arguments: dict[str, Any]) -> ServedResult:
        if self._trace.over.done():
            raise self._trace.over.result()
        if name not in names:
            return ServedResult(error=f"There is no tool called {name!r} here. There are: {', '.join(sorted(names))}.")
        try:
            call = await self._context.toolbox.call(name, arguments)
        except SalvoError as error:  # it diverges from its recording, or a server failed: the program cannot go on
            if not self._trace.over.done():
                self._trace.over.set_result(error)
            raise
        return ServedResult(call.result, call.error)


def _names(name: str) -> Iterator[str]:
    """Yield the names that a tool may have here: programs put a prefix before it, as in mcp__shop__find_order."""
    yield name
    for index, character in enumerate(name):
        if not character.isalnum():
            yield name[index + 1 :]
