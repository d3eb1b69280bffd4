"""What a program does, read from its traffic with the models: what they said, which tools it used, what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from salvo.engine.chat import catalog, openai_responses
from salvo.engine.chat.anthropic import AnthropicDialect
from salvo.engine.chat.base import AssistantMessage, ChatReply, Stop, ToolUse
from salvo.engine.chat.dialect import ParsedReply
from salvo.engine.chat.openai import OpenAIDialect
from salvo.engine.chat.provider_errors import parse_error_body, provider_error
from salvo.engine.gateway.server import Call
from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import WireReply
from salvo.errors import BadReplyError, ContextTooLongError, RequestRefusedError, SalvoError, TapeError
from salvo.scenarios.result import ToolCall, TraceEvent
from salvo.scenarios.run.journal import Journal

_FREE = ("/count_tokens",)


class TurnLimitReached(SalvoError):  # noqa: N818 - no error of anyone's but the agent's
    """The program asks a model once more than the scenario allows."""


class ToolResult(NamedTuple):
    """What a program told a model about a tool."""

    id: str
    content: Any
    is_error: bool


class ProgramTrace:
    """Writes the run's journal and its tool calls, in the order in which the program asked.

    By the order of asking, not of answers: a replay answers at once, and must come to the same.
    """

    def __init__(self, journal: Journal, calls: list[ToolCall], max_turns: int) -> None:
        self.over: asyncio.Future[SalvoError] = asyncio.get_running_loop().create_future()
        """Why the program must be ended: it leaves its recording, or reached the turn limit."""
        self.fault: SalvoError | None = None
        """A fault that is not the program's, after which no model answered any more."""
        self.refused: SalvoError | None = None
        """The last request that the provider did not take as the program wrote it, if nothing came after."""
        self.stop: Stop | None = None
        """Why the model stopped that answered last."""
        self._journal = journal
        self._calls = calls
        self._max_turns = max_turns
        self._turns = 0
        self._asked = 0
        self._troubled_at = 0
        self._events: list[tuple[int, TraceEvent]] = []
        self._used: list[tuple[int, ToolCall]] = []
        self._open: dict[str, list[ToolCall]] = {}

    def requested(self, call: Call) -> None:
        if self.over.done():
            raise self.over.result()  # how much more it asks until it is ended depends on the machine
        self._asked = call.number
        if not call.is_chat:
            return
        self._tools_answered(call)
        self._turns += 1
        if self._turns > self._max_turns:
            self._journal_event(call.number, TraceEvent("turn_limit", {"turns": self._max_turns}))
            raise TurnLimitReached(f"The limit of {self._max_turns} turns is reached.")

    def answered(self, call: Call, reply: WireReply) -> None:
        if reply.status != 200:
            self._complained(call, reply)
        elif call.is_chat:
            self._spoke(call, reply)
        elif call.body is not None and not _path(call).endswith(_FREE):
            # Something was bought, and nobody here can tell at what price.
            self._said(call, reply, ParsedReply(AssistantMessage(""), Stop.OTHER, call.path, None, _model(call)))

    def failed(self, call: Call, fault: SalvoError) -> None:
        if isinstance(fault, TapeError | TurnLimitReached):
            if not self.over.done():
                self.over.set_result(fault)
            return
        self._note(call, str(fault))
        self._trouble(fault)

    def end(self) -> None:
        """The program has ended: tools that it never told an answer of are in the trace as well."""
        waiting = [id(call) for calls in self._open.values() for call in calls]
        for number, call in self._used:
            if id(call) in waiting:
                self._journal_event(number, TraceEvent("tool", {"name": call.name, "arguments": call.arguments}))
        self._open.clear()

    def _spoke(self, call: Call, reply: WireReply) -> None:
        try:
            body = reply.json()
            if not isinstance(body, dict) or isinstance(body.get("error"), dict):
                raise ValueError("it is no completion")  # noqa: TRY004 - every flaw of a reply is a ValueError
            read = _READERS[call.provider, _path(call)](body)
        except ValueError as fault:
            self.failed(call, BadReplyError(f"{_title(call)} did not answer with a completion: {fault}.", status=200))
            return
        self._said(call, reply, read)
        for use in read.message.tool_uses:
            self._use(call.number, use)
        self.stop = read.stop
        if call.number > self._troubled_at:  # asked after the trouble, and answered: the program found its way
            self.fault = self.refused = None

    def _said(self, call: Call, reply: WireReply, read: ParsedReply) -> None:
        self._journal.record_reply(
            call.provider,
            ChatReply(
                message=read.message,
                stop=read.stop,
                usage=read.usage,
                model=read.model or _model(call),
                stop_raw=read.stop_raw,
                system_fingerprint=read.system_fingerprint,
                seconds=reply.seconds,
                attempts=reply.attempts,
            ),
        )
        self._journal_event(call.number, self._journal.events.pop())

    def _complained(self, call: Call, reply: WireReply) -> None:
        trouble = parse_error_body(reply)
        self._note(call, trouble.message, status=reply.status)
        if not call.is_chat:
            return
        provider = catalog.providers()[call.provider]
        error = provider_error(
            trouble,
            title=provider.title,
            model=_model(call),
            key_variable=provider.key_variable,
            about_models=lambda: provider.about(_model(call)),
        )
        if isinstance(error, ContextTooLongError | RequestRefusedError):
            self.refused = error  # the program wrote the request
            self._troubled_at = self._asked
        else:
            self._trouble(error)

    def _trouble(self, fault: SalvoError) -> None:
        self.fault = fault
        self._troubled_at = self._asked

    def _use(self, number: int, use: ToolUse) -> None:
        call = ToolCall(use.name, use.raw if use.problem else dict(use.arguments))
        self._open.setdefault(use.id, []).append(call)
        self._used.append((number, call))
        self._used.sort(key=_number)
        self._calls[:] = [call for _, call in self._used]

    def _tools_answered(self, call: Call) -> None:
        """A conversation is sent again at each turn: only what was asked in this run and is open is answered now."""
        results: dict[str, list[ToolResult]] = {}
        for result in _results(call.body):
            if result.id in self._open:
                results.setdefault(result.id, []).append(result)
        for id_, told in results.items():
            waiting = self._open.pop(id_)
            for tool, result in zip(waiting, told[-len(waiting) :], strict=False):
                if result.is_error:
                    tool.error = result.content if isinstance(result.content, str) else str(result.content)
                else:
                    tool.result = (
                        json_codec.loads_or_text(result.content) if isinstance(result.content, str) else result.content
                    )
                self._journal.record_tool_call(tool)
                self._journal_event(call.number, self._journal.events.pop())

    def _note(self, call: Call, message: str, **more: Any) -> None:
        data = {"provider": call.provider, "path": call.path, **more, "message": message}
        self._journal_event(call.number, TraceEvent("model_error", data))

    def _journal_event(self, number: int, event: TraceEvent) -> None:
        self._events.append((number, event))
        self._events.sort(key=_number)
        self._journal.events[:] = [event for _, event in self._events]


_CHAT, _MESSAGES = OpenAIDialect(official=True), AnthropicDialect()
_READERS: Mapping[tuple[str, str], Callable[[dict[str, Any]], ParsedReply]] = {
    ("openai", _CHAT.path): _CHAT.read,
    ("openai", openai_responses.PATH): openai_responses.read,
    ("anthropic", _MESSAGES.path): _MESSAGES.read,
}


def _number(item: tuple[int, Any]) -> int:
    return item[0]


def _path(call: Call) -> str:
    return call.path.partition("?")[0]


def _title(call: Call) -> str:
    return catalog.providers()[call.provider].title


def _model(call: Call) -> str:
    model = call.body.get("model") if isinstance(call.body, dict) else None
    return model if isinstance(model, str) else ""


def _results(body: Any) -> Iterator[ToolResult]:
    """Every answer of a tool in a request, in each protocol. What is not well-formed is the provider's to refuse."""
    if not isinstance(body, dict):
        return
    for item in _dicts(body.get("input")):
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield ToolResult(str(item.get("call_id")), _text(item.get("output")), is_error=False)
    for message in _dicts(body.get("messages")):
        content = message.get("content")
        if message.get("role") == "tool":
            yield ToolResult(str(message.get("tool_call_id")), _text(content), is_error=False)
        for block in _dicts(content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                yield ToolResult(str(block.get("tool_use_id")), _text(block.get("content")), is_error)


def _text(content: Any) -> Any:
    """The text, where a content is nothing but text; else as it was sent."""
    parts = list(_dicts(content))
    if isinstance(content, list) and all(isinstance(part.get("text"), str) for part in parts):
        return "".join(part["text"] for part in parts)
    return content


def _dicts(items: Any) -> Iterator[dict[str, Any]]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
