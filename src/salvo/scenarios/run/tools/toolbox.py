"""The ToolBox: every tool call goes through it. It validates and records; in replay it answers from the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_key, stable_text
from salvo.engine.jsonio.json_schema import problems_in_time
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import CallSpan
from salvo.engine.wire.call_order import CallCounter, RecordedOrder
from salvo.engine.wire.network_guard import unobserved
from salvo.errors import McpError, NotReplayableError, TapeMissError
from salvo.scenarios.result import ToolCall


class Tool(Protocol):
    """A tool of one run. Each run has its own, so that a sequence of fixed answers starts again."""

    @property
    def definition(self) -> ToolDefinition: ...

    async def answer(self, arguments: dict[str, Any]) -> Any:
        """Return the result as a JSON value. An exception is passed to the model as the tool's error."""
        ...


class ToolFailure(Exception):  # noqa: N818 - it carries the answer of a tool
    """A tool's own error. The model gets exactly this message."""


@dataclass(slots=True)
class ToolRecord:
    """A call as it is recorded. Replay finds it by name, arguments and which occurrence of them it is."""

    name: str
    arguments: Any
    key: str
    occurrence: int
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    answered: bool = False
    """Whether the tool finished; False if the agent's timeout came first."""
    span: CallSpan | None = None
    """None in recordings of earlier versions."""


class ToolBox:
    """The tools of one run. `calls` and `records` are in the order of the agent's requests."""

    def __init__(
        self, tools: Iterable[Tool], clock: Clock, redactor: Redactor, *, counter: CallCounter | None = None
    ) -> None:
        self._counter = counter or CallCounter()
        self._tools = {tool.definition.name: tool for tool in tools}
        self._clock = clock
        self._redactor = redactor
        self._occurrences: Counter[str] = Counter()
        self.calls: list[ToolCall] = []
        self.records: list[ToolRecord] = []
        self.made_outside: list[str] = []
        """Tools that the agent used without this box, so that a replay cannot answer them."""

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [tool.definition for tool in self._tools.values()]

    @property
    def servers_in_use(self) -> list[str]:
        """The MCP servers that have not answered a call yet."""
        tools = [self._tools.get(record.name) for record in self.records if not record.answered]
        return list(dict.fromkeys(server for tool in tools if (server := getattr(tool, "server", None)) is not None))

    async def call(self, name: str, arguments: Any, *, problem: str = "", check: bool = True) -> ToolCall:
        """Call a tool. Errors are in the call's `error`, for the agent to read; only a failed MCP server is raised.

        `problem` is an error in the arguments that is already known, such as malformed JSON. With `check` off, the
        tool gets arguments that do not fit its schema: the test of a server wants to see what it does.
        """
        try:
            arguments = json_codec.plain(arguments)
        except (TypeError, ValueError, RecursionError) as error:
            # A user's adapter may pass anything; this text is the same in every process.
            arguments, problem = stable_text(arguments), f"The arguments are not JSON: {error}."
        call = ToolCall(name, arguments)
        redacted = self._redactor.json(arguments)
        key = stable_key([name, redacted])
        self._occurrences[key] += 1
        span = self._counter.start()
        record = ToolRecord(name, redacted, key, self._occurrences[key], span=span)
        self.calls.append(call)
        self.records.append(record)
        call.seconds = await self._answer(call, record, problem, check=check)
        record.result, record.error, record.seconds = call.result, call.error, call.seconds
        record.answered = True
        self._counter.end(span)
        return call

    async def _answer(self, call: ToolCall, _record: ToolRecord, problem: str, *, check: bool) -> float:
        """Set the call's result or error, and return the seconds it took."""
        tool = self._tools.get(call.name)
        error = problem or (await self._check(tool, call) if check or tool is None else "")
        if error or tool is None:
            call.error = error
            return 0.0
        started = self._clock.monotonic()
        try:
            with unobserved():  # a replay takes its result from the recording
                call.result = json_codec.plain(await tool.answer(call.arguments))
        except ToolFailure as failure:
            call.error = str(failure)
        except McpError:
            raise  # the server failed, which is neither an answer for the agent nor its fault
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the model gets whatever a user's tool raises
            call.error = f"{type(error).__name__}: {error}"
        return self._clock.monotonic() - started

    async def _check(self, tool: Tool | None, call: ToolCall) -> str:
        if tool is None:
            return f"There is no tool called {call.name!r}. There are: {', '.join(self._tools) or 'none'}."
        errors = await problems_in_time(tool.definition.parameters, call.arguments)
        return f"The arguments do not fit: {'; '.join(errors)}." if errors else ""


class ReplayedToolBox(ToolBox):
    """Answers from a recording. It executes no tool."""

    def __init__(
        self,
        definitions: Sequence[ToolDefinition],
        recorded: Iterable[ToolRecord],
        clock: Clock,
        redactor: Redactor,
        *,
        order: RecordedOrder | None = None,
    ) -> None:
        super().__init__((), clock, redactor)
        self._order = order or RecordedOrder([])
        self._definitions = list(definitions)
        self._recorded = {(record.key, record.occurrence): record for record in recorded}

    @property
    def definitions(self) -> list[ToolDefinition]:
        return self._definitions

    async def _answer(self, call: ToolCall, record: ToolRecord, _problem: str, *, check: bool) -> float:  # noqa: ARG002 - as the live one
        recorded = self._recorded.pop((record.key, record.occurrence), None)
        if recorded is None:
            raise TapeMissError(
                f"The agent now calls {call.name} with other arguments, or more often than when it was recorded.",
                hint=f"Recorded and not called yet: {', '.join(self.unused[:5]) or 'nothing'}.",
            )
        await self._order.keep(recorded.span)
        if not recorded.answered:
            raise NotReplayableError(f"The recording ends while the tool {call.name} was still running.")
        call.result, call.error = recorded.result, recorded.error
        return recorded.seconds

    @property
    def unused(self) -> list[str]:
        """The recorded calls that were not made again."""
        return [f"{record.name}({record.arguments})" for record in self._recorded.values()]
