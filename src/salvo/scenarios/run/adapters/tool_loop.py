"""The one tool loop: it drives any ChatModel through its tools until it has nothing more to ask for."""

from __future__ import annotations

from salvo.engine.chat.base import (
    ChatModel,
    ChatReply,
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
from salvo.scenarios.run.adapters.base import RunContext

LANE = "agent"

_STOPS = {Stop.REFUSAL: Stopped.REFUSAL, Stop.LENGTH: Stopped.LENGTH, Stop.CONTEXT: Stopped.CONTEXT}


async def run_tool_loop(model: ChatModel, request: AdapterRequest, context: RunContext) -> AdapterResponse:
    """Turn by turn: the model speaks, its tools answer. Tools that are asked for together run together."""
    messages: tuple[Message, ...] = (UserMessage(request.user_message),)
    for _ in range(request.max_turns):
        try:
            reply = await model.complete(_turn(request, messages))
        except ContextTooLongError as fault:
            context.journal.record_event("context", message=str(fault))
            return AdapterResponse(None, stopped=Stopped.CONTEXT)
        if reply.stop in _STOPS or not reply.message.tool_uses:
            return AdapterResponse(reply.text, stopped=_STOPS.get(reply.stop))
        calls = await _use(reply, context)
        messages += (reply.message, ToolMessage(tuple(map(_told, reply.message.tool_uses, calls))))
    context.journal.record_event("turn_limit", turns=request.max_turns)
    return AdapterResponse(None, stopped=Stopped.TURN_LIMIT)


def _turn(request: AdapterRequest, messages: tuple[Message, ...]) -> ChatRequest:
    return ChatRequest(
        messages=messages,
        system=request.system_prompt,
        tools=tuple(request.tools),
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.options.get("max_tokens"),
        output_schema=OutputSchema("final_output", request.output_schema) if request.output_schema else None,
        lane=LANE,
    )


async def _use(reply: ChatReply, context: RunContext) -> list[ToolCall]:
    calls = await gather(
        context.toolbox.call(use.name, use.arguments, problem=use.problem) for use in reply.message.tool_uses
    )
    for call in calls:
        context.journal.record_tool_call(call)
    return calls


def _told(use: ToolUse, call: ToolCall) -> ToolAnswer:
    """What the model is told: text as it is, anything else as JSON; an error as an error."""
    if call.error is not None:
        return ToolAnswer(use.id, f"Error: {call.error}", is_error=True)
    return ToolAnswer(use.id, call.result if isinstance(call.result, str) else json_codec.dumps(call.result).decode())
