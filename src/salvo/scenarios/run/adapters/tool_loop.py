"""The tool loop: call a model and its tools until the model asks for no more tools."""

from __future__ import annotations

from dataclasses import replace

from salvo.engine.chat.base import (
    ChatModel,
    ChatRequest,
    Message,
    OutputSchema,
    Stop,
    ToolAnswer,
    ToolMessage,
    ToolUse,
    UserMessage,
)
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.pool import gather
from salvo.errors import ContextTooLongError
from salvo.scenarios.result import AdapterRequest, AdapterResponse, Stopped, ToolCall
from salvo.scenarios.run.adapters.base import BaseAdapter, RunContext

LANE = "agent"

_STOPS = {Stop.REFUSAL: Stopped.REFUSAL, Stop.LENGTH: Stopped.LENGTH, Stop.CONTEXT: Stopped.CONTEXT}


class ProviderAdapter(BaseAdapter):
    """`adapter: openai` and `adapter: anthropic`: the tool loop with a model of this provider.

    In a conversation it is asked once per turn, and goes on after the messages of the turns before.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._model: ChatModel | None = None
        self._messages: tuple[Message, ...] = ()

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        if self._model is None:
            self._model = self.context.chat_model(f"{self._provider}/{request.model}")
        before = (*self._messages, UserMessage(request.user_message))
        response, self._messages = await run_tool_loop(self._model, request, self.context, before)
        return response


async def run_tool_loop(
    model: ChatModel, request: AdapterRequest, context: RunContext, messages: tuple[Message, ...]
) -> tuple[AdapterResponse, tuple[Message, ...]]:
    """Return the final response, and all messages up to it. Tools that one reply asks for run concurrently."""
    for _ in range(request.max_turns):
        try:
            reply = await model.complete(_chat_request(request, messages))
        except ContextTooLongError as error:
            context.journal.record_event("context", message=str(error))
            return AdapterResponse(None, stopped=Stopped.CONTEXT), messages
        if reply.stop in _STOPS or not reply.message.tool_uses:
            # Without tool calls, which would need results; and providers refuse empty messages.
            answer = replace(reply.message, tool_uses=(), verbatim=()) if reply.message.tool_uses else reply.message
            closing = (answer,) if answer.text.strip() else ()
            return AdapterResponse(reply.text, stopped=_STOPS.get(reply.stop)), (*messages, *closing)
        uses = reply.message.tool_uses
        calls = await gather(context.toolbox.call(use.name, use.arguments, problem=use.problem) for use in uses)
        for call in calls:
            context.journal.record_tool_call(call)
        messages += (reply.message, ToolMessage(tuple(map(_tool_answer, uses, calls))))
    context.journal.record_event("turn_limit", turns=request.max_turns)
    return AdapterResponse(None, stopped=Stopped.TURN_LIMIT), messages


def _chat_request(request: AdapterRequest, messages: tuple[Message, ...]) -> ChatRequest:
    return ChatRequest(
        messages=messages,
        system=request.system_prompt,
        tools=tuple(request.tools),
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.options.get("max_tokens"),
        output_schema=OutputSchema("final_output", request.output_schema) if request.output_schema else None,
        lane=LANE,
        cache_prefix=request.options.get("prompt_cache") is not False,
    )


def _tool_answer(use: ToolUse, call: ToolCall) -> ToolAnswer:
    """Return what the model gets: text unchanged, anything else as JSON, and errors as errors."""
    if call.error is not None:
        return ToolAnswer(use.id, f"Error: {call.error}", is_error=True)
    return ToolAnswer(use.id, call.result if isinstance(call.result, str) else json_codec.dumps(call.result).decode())
