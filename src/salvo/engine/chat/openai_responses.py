"""Read replies of OpenAI's Responses API, which programs use through the gateway.

Our own requests use Chat Completions, which compatible servers offer too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from salvo.engine.chat.base import AssistantMessage, ChatReply, Stop, ToolUse
from salvo.engine.chat.dialect import object_list, object_or_empty, string_or_empty
from salvo.engine.chat.openai import parse_arguments, read_usage

PATH = "/responses"

_INCOMPLETE_STOPS = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}


def read(body: dict[str, Any]) -> ChatReply:
    """Return the content of a reply. Raises ValueError where it does not follow the protocol."""
    if "output" not in body:
        raise ValueError("output is missing")
    items = object_list(body, "output")
    text = "".join(_texts(items, "output_text", "text"))
    refusal = "".join(_texts(items, "refusal", "refusal"))
    uses = tuple(_uses(items))
    status = string_or_empty(body.get("status"))
    reason = string_or_empty(object_or_empty(body, "incomplete_details").get("reason"))
    return ChatReply(
        message=AssistantMessage(text=text or refusal, tool_uses=uses),
        stop=Stop.REFUSAL if refusal else _stop(status, reason, uses),
        stop_raw=reason or status,
        usage=read_usage(body, "input_tokens", "output_tokens"),
        model=string_or_empty(body.get("model")),
    )


def _texts(items: list[dict[str, Any]], kind: str, field: str) -> Iterator[str]:
    for item in items:
        if item.get("type") == "message":
            yield from (
                string_or_empty(part.get(field)) for part in object_list(item, "content") if part.get("type") == kind
            )


def _uses(items: list[dict[str, Any]]) -> Iterator[ToolUse]:
    """Yield the tool calls for the program. Tools that run at the provider are left out."""
    for item in items:
        id_, name = string_or_empty(item.get("call_id")), string_or_empty(item.get("name"))
        if item.get("type") == "function_call":
            raw = string_or_empty(item.get("arguments"))
            arguments, problem = parse_arguments(raw)
            yield ToolUse(id_, name, arguments, raw, problem)
        elif item.get("type") == "custom_tool_call":
            text = string_or_empty(item.get("input"))
            yield ToolUse(id_, name, {"input": text}, text)


def _stop(status: str, reason: str, uses: tuple[ToolUse, ...]) -> Stop:
    if status == "incomplete":
        return _INCOMPLETE_STOPS.get(reason, Stop.OTHER)
    if status != "completed":
        return Stop.OTHER
    return Stop.TOOL_USE if uses else Stop.END
