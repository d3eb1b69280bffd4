"""A command that holds a whole conversation in one process: a JSON object on one line for each message and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from salvo.engine.gateway.server import Call, Gateway
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.line_program import LineProgram
from salvo.engine.text.messages import excerpt
from salvo.engine.wire.base import WireReply
from salvo.errors import BadReplyError, ContextTooLongError, SalvoError
from salvo.scenarios.result import AdapterRequest, AdapterResponse, Stopped, ToolCall
from salvo.scenarios.run.adapters.base import RunContext
from salvo.scenarios.run.adapters.command_input import CommandOptions, json_input, pass_input, path_rules
from salvo.scenarios.run.adapters.program_trace import ProgramTrace, TurnLimitReached, exit_error
from salvo.scenarios.run.adapters.served_tools import ServedTools
from salvo.scenarios.run.adapters.tool_loop import LANE

_MESSAGE = "message"


class _CurrentTurn:
    """Passes the traffic of the program to the trace of the present turn."""

    def __init__(self, trace: ProgramTrace) -> None:
        self.trace = trace

    def requested(self, call: Call) -> None:
        self.trace.requested(call)

    def answered(self, call: Call, reply: WireReply) -> None:
        self.trace.answered(call, reply)

    def failed(self, call: Call, error: SalvoError) -> None:
        self.trace.failed(call, error)


class ConversationProgram:
    """The process of one conversation, with its gateway. Each turn has a trace of its own."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._stack = AsyncExitStack()
        self._program: LineProgram | None = None

    async def start(
        self,
        options: CommandOptions,
        request: AdapterRequest,
        folder: Path,
        environ: Callable[[Mapping[str, str]], dict[str, str]],
    ) -> None:
        """Start the gateway and the program in the folder. `environ` adds its variables to those of the gateway."""
        context = self._context
        self._turn = _CurrentTurn(ProgramTrace(context.journal, [], request.max_turns))
        self._tools = tools = ServedTools(context, self._turn.trace)
        paths = path_rules(options, context.wire)
        gateway = await self._stack.enter_async_context(
            Gateway(context.wire, self._turn, lane=LANE, paths=paths, services=tools.services())
        )
        config = tools.config(gateway.origin, gateway.token)
        passed = self._stack.enter_context(pass_input(options, request, config, with_messages=True))
        variables = {**gateway.environ, **tools.variables(gateway.origin, gateway.token), **passed.variables}
        self._program = LineProgram(passed.words, folder=folder, environ=environ(variables))

    async def answer(self, request: AdapterRequest) -> AdapterResponse:
        """Send a message, and return what the program answers to it."""
        program, journal = self._program, self._context.journal
        if program is None:
            return AdapterResponse(None, stopped=Stopped.EXIT, error="The program was not started.")
        traffic: list[ToolCall] = []
        trace = ProgramTrace(journal, traffic, request.max_turns)
        self._turn.trace = trace
        self._tools.begin_turn(trace)
        line = json_input(request, with_messages=True)
        try:
            answer = await program.ask(line, trace.over)
        finally:
            trace.end()
            self._tools.add_to(traffic)
        if trace.over.done():
            over = trace.over.result()
            if not isinstance(over, TurnLimitReached):
                raise over
            return AdapterResponse(None, stopped=Stopped.TURN_LIMIT)
        if answer is None:
            return await self._ended(trace)
        # It can do without an answer of a model, but what it made of a reply that is none says nothing.
        if isinstance(trace.error, BadReplyError):
            raise trace.error
        return _response(answer, trace)

    async def _ended(self, trace: ProgramTrace) -> AdapterResponse:
        """Return the response of a program that ended, or closed its output, before it answered."""
        result = await self._close_program()
        if trace.error is not None:
            raise trace.error
        stopped = Stopped.CONTEXT if isinstance(trace.refused, ContextTooLongError) else Stopped.EXIT
        details: dict[str, Any] = {"exit_code": result.exit_code}
        if result.errors:
            details["stderr"] = result.errors
        error = exit_error(result, trace) if result.exit_code else "The program ended before it answered."
        return AdapterResponse(None, stopped=stopped, error=error, details=details)

    async def _close_program(self) -> Any:
        program, self._program = self._program, None
        return None if program is None else await program.close()

    async def close(self) -> None:
        """End the program with its children, then the gateway."""
        try:
            await self._close_program()
        finally:
            await self._stack.aclose()


def _response(line: bytes, trace: ProgramTrace) -> AdapterResponse:
    try:
        answer = json_codec.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or _MESSAGE not in answer:
        quoted = excerpt(line.decode("utf-8", "replace"))
        error = f'The program wrote a line that is not a JSON object with "{_MESSAGE}": {quoted}'
        return AdapterResponse(None, stopped=Stopped.EXIT, error=error)
    return AdapterResponse(answer[_MESSAGE], stopped=trace.stopped)
