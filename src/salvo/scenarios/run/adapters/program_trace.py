"""The trace of a program, read from its traffic with models: replies, tool calls and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.chat.anthropic import AnthropicDialect
from salvo.engine.chat.base import AssistantMessage, ChatReply, Stop
from salvo.engine.chat.openai import RESPONSES_PATH, OpenAIDialect, read_response, read_usage
from salvo.engine.chat.provider_errors import parse_error_body, provider_error
from salvo.engine.gateway.paths import ForbiddenPathError
from salvo.engine.gateway.server import Call
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.subprocesses import ProcessResult
from salvo.engine.wire.base import CallSpan, WireReply
from salvo.errors import BadReplyError, ContextTooLongError, RequestRefusedError, SalvoError, TapeError
from salvo.records import record
from salvo.scenarios.result import Stopped, ToolCall, TraceEvent
from salvo.scenarios.run.journal import Journal

_STOPS = {Stop.REFUSAL: Stopped.REFUSAL, Stop.LENGTH: Stopped.LENGTH}
_MAX_SHOWN = 200
_LINES_SHOWN = 3
_FREE = ("/count_tokens", "/input_tokens", "/moderations")
"""The ends of paths that cost nothing."""


class TurnLimitReached(SalvoError):  # noqa: N818 - an outcome of the agent, not an error
    """The program calls a model more often than the scenario allows."""


class _ToolResult(NamedTuple):
    """The result of a tool, as a program sends it to a model."""

    id: str
    content: Any
    is_error: bool = False


@record
class _CallEnd:
    """The end of a call. Its span is as it was recorded, so that a replay comes to the same result."""

    number: int
    span: CallSpan | None

    def position(self) -> int:
        """Return when the call was made."""
        return self.number if self.span is None else self.span.made


@record
class _Completion(_CallEnd):
    stop: Stop


@record
class _CallError(_CallEnd):
    error: SalvoError
    by_program: bool
    last_request: int
    """The number of the last request that had been made by then."""

    def precedes(self, completion: _Completion) -> bool:
        """Return whether a completion was requested after this error: then the program recovered."""
        if self.span is None or self.span.answered is None or completion.span is None:  # not sent, or not recorded
            return completion.number > self.last_request
        return completion.span.made >= self.span.answered


class ProgramTrace:
    """Writes the run's journal and its tool calls, in the order of the program's requests.

    The order of the answers would differ in a replay, which answers at once.
    """

    def __init__(self, journal: Journal, calls: list[ToolCall], max_turns: int) -> None:
        self.over: asyncio.Future[SalvoError] = asyncio.get_running_loop().create_future()
        """Why the program must be stopped: it diverges from its recording, or reached the turn limit."""
        self._journal = journal
        self._first_event = len(journal.events)
        """Those before are of earlier turns of a conversation."""
        self._calls = calls
        self._max_turns = max_turns
        self._turns = 0
        self._last_request = 0
        self._last_reply: _Completion | None = None
        self._errors: list[_CallError] = []
        self._events: list[tuple[int, TraceEvent]] = []
        self._used: list[tuple[int, ToolCall]] = []
        self._open: dict[str, list[ToolCall]] = {}

    @property
    def stop(self) -> Stop | None:
        """Why the last reply stopped."""
        return self._last_reply.stop if self._last_reply else None

    @property
    def stopped(self) -> Stopped | None:
        """Why the model stopped before it had finished; None if it had."""
        return _STOPS.get(self.stop) if self.stop is not None else None

    @property
    def error(self) -> SalvoError | None:
        """An error that is not the program's, after which no model answered any more."""
        return self._last_error(by_program=False)

    @property
    def refused(self) -> SalvoError | None:
        """The refusal of a request that the program wrote, if no model answered after it."""
        return self._last_error(by_program=True)

    def _last_error(self, *, by_program: bool) -> SalvoError | None:
        errors = [
            item
            for item in self._errors
            if item.by_program is by_program and not (self._last_reply and item.precedes(self._last_reply))
        ]
        return max(errors, key=_CallError.position).error if errors else None

    def requested(self, call: Call) -> None:
        if self.over.done():
            raise self.over.result()  # how many more requests it sends before it is stopped depends on the machine
        self._last_request = call.number
        if not call.is_chat:
            return
        self._record_tool_results(call)
        self._turns += 1
        if self._turns > self._max_turns:
            self._insert_event(call.number, TraceEvent("turn_limit", {"turns": self._max_turns}))
            raise TurnLimitReached(f"The limit of {self._max_turns} turns is reached.")

    def answered(self, call: Call, reply: WireReply) -> None:
        if not 200 <= reply.status < 300:
            self._record_refusal(call, reply)
        elif call.is_chat:
            self._record_completion(call, reply)
        elif call.body is not None and not call.path.endswith(_FREE):
            usage = read_usage(reply) if call.provider == "openai" else None
            unread = ChatReply(AssistantMessage(""), Stop.OTHER, usage, _model(call), stop_raw=call.path)
            self._record_reply(call, reply, unread)

    def failed(self, call: Call, error: SalvoError) -> None:
        if isinstance(error, TapeError | TurnLimitReached):
            if not self.over.done():
                self.over.set_result(error)
            return
        self._record_error(call, str(error))
        # A path that is not forwarded: the program wrote the request, and may do without it.
        self._note_error(call, error, getattr(error, "span", None), by_program=isinstance(error, ForbiddenPathError))

    def end(self) -> None:
        """Add the tool calls without a result to the trace, when the program has ended."""
        waiting = [id(call) for calls in self._open.values() for call in calls]
        for number, call in self._used:
            if id(call) in waiting:
                self._insert_event(number, TraceEvent("tool", {"name": call.name, "arguments": call.arguments}))
        self._open.clear()

    def _record_completion(self, call: Call, reply: WireReply) -> None:
        try:
            body = reply.json()
            if not isinstance(body, dict) or isinstance(body.get("error"), dict):
                raise ValueError("it is not a completion")  # noqa: TRY004 - every flaw of a reply is a ValueError
            parsed = _PARSERS[call.provider, call.path](body)
        except ValueError as error:
            title = catalog.providers()[call.provider].title
            bad_reply = BadReplyError(f"{title} did not answer with a completion: {error}.", status=reply.status)
            self._record_error(call, str(bad_reply))
            self._note_error(call, bad_reply, reply.span, by_program=False)
            return
        self._record_reply(call, reply, parsed)
        for use in parsed.message.tool_uses:
            tool_call = ToolCall(use.name, use.raw if use.problem else dict(use.arguments))
            self._open.setdefault(use.id, []).append(tool_call)
            self._used.append((call.number, tool_call))
        self._used.sort(key=itemgetter(0))
        self._calls[:] = [tool_call for _, tool_call in self._used]
        completion = _Completion(call.number, reply.span, parsed.stop)
        if self._last_reply is None or completion.position() > self._last_reply.position():
            self._last_reply = completion

    def _record_reply(self, call: Call, reply: WireReply, parsed: ChatReply) -> None:
        model = parsed.model or _model(call)
        answer = replace(
            parsed, model=model, seconds=reply.seconds, attempts=reply.attempts, from_cache=reply.from_cache
        )
        self._journal.record_reply(call.provider, answer, _model(call))
        self._insert_event(call.number, self._journal.events.pop())

    def _record_refusal(self, call: Call, reply: WireReply) -> None:
        error_body = parse_error_body(reply)
        self._record_error(call, error_body.message, status=reply.status)
        if not call.is_chat:
            return
        provider = catalog.providers()[call.provider]
        error = provider_error(error_body, provider, _model(call))
        by_program = isinstance(error, ContextTooLongError | RequestRefusedError)  # it wrote the request
        self._note_error(call, error, reply.span, by_program=by_program)

    def _note_error(self, call: Call, error: SalvoError, span: CallSpan | None, *, by_program: bool) -> None:
        self._errors.append(_CallError(call.number, span, error, by_program, self._last_request))

    def _record_tool_results(self, call: Call) -> None:
        """Record the results of open tool calls. A request repeats the whole conversation, so others are ignored."""
        results: dict[str, list[_ToolResult]] = {}
        for result in _results(call.body):
            if result.id in self._open:
                results.setdefault(result.id, []).append(result)
        for id_, tool_results in results.items():
            waiting = self._open.pop(id_)
            for tool, result in zip(waiting, tool_results[-len(waiting) :], strict=False):
                content = result.content
                if result.is_error:
                    tool.error = str(content)
                else:
                    tool.result = json_codec.loads_or_text(content) if isinstance(content, str) else content
                self._journal.record_tool_call(tool)
                self._insert_event(call.number, self._journal.events.pop())

    def _record_error(self, call: Call, message: str, **more: Any) -> None:
        data = {"provider": call.provider, "path": call.path, **more, "message": message}
        self._insert_event(call.number, TraceEvent("model_error", data))

    def _insert_event(self, number: int, event: TraceEvent) -> None:
        self._events.append((number, event))
        self._events.sort(key=itemgetter(0))
        self._journal.events[self._first_event :] = [event for _, event in self._events]


_CHAT, _MESSAGES = OpenAIDialect(official=True), AnthropicDialect()
_PARSERS: Mapping[tuple[str, str], Callable[[dict[str, Any]], ChatReply]] = {
    ("openai", _CHAT.path): _CHAT.read,
    ("openai", RESPONSES_PATH): read_response,
    ("anthropic", _MESSAGES.path): _MESSAGES.read,
}


def exit_error(result: ProcessResult, trace: ProgramTrace) -> str:
    code = result.exit_code or 0
    how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    why = f" {trace.refused}" if trace.refused else ""
    lines = [line.strip() for line in result.errors.splitlines() if line.strip()]
    end = " | ".join(lines[-_LINES_SHOWN:])
    excerpt = end if len(end) <= _MAX_SHOWN else f"…{end[-_MAX_SHOWN:]}"
    return f"The program {how}.{why}" + (f" The end of its standard error: {excerpt}" if end else "")


def _model(call: Call) -> str:
    model = call.body.get("model") if isinstance(call.body, dict) else None
    return model if isinstance(model, str) else ""


def _results(body: Any) -> Iterator[_ToolResult]:
    """Yield every tool result in a request, in each protocol. Malformed ones are left to the provider."""
    if not isinstance(body, dict):
        return
    for item in _dicts(body.get("input")):
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield _ToolResult(str(item.get("call_id")), _text(item.get("output")))
    for message in _dicts(body.get("messages")):
        content = message.get("content")
        if message.get("role") == "tool":
            yield _ToolResult(str(message.get("tool_call_id")), _text(content))
        for block in _dicts(content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                yield _ToolResult(str(block.get("tool_use_id")), _text(block.get("content")), is_error)


def _text(content: Any) -> Any:
    """Return the text of a content that is only text, else the content itself."""
    parts = list(_dicts(content))
    if isinstance(content, list) and all(isinstance(part.get("text"), str) for part in parts):
        return "".join(part["text"] for part in parts)
    return content


def _dicts(items: Any) -> Iterator[dict[str, Any]]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
