"""OpenAI's Responses API, as far as a program of somebody else's speaks it through the gateway: replies are read.

We ask in Chat Completions ourselves, which every compatible server speaks too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.chat.base import AssistantMessage, Stop, ToolUse, Usage
from salvo.engine.chat.dialect import ParsedReply, count_of, objects_of, text_of
from salvo.engine.chat.openai import arguments_of

PATH = "/responses"

_CUT = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}


def read(body: dict[str, Any]) -> ParsedReply:
    """What a reply says; ValueError where it is not what the protocol says."""
    if "output" not in body:
        raise ValueError("output is missing")
    items = objects_of(body, "output")
    text = "".join(_spoken(items, "output_text", "text"))
    refusal = "".join(_spoken(items, "refusal", "refusal"))
    uses = tuple(_uses(items))
    status, cut = text_of(body.get("status")), _reason(body.get("incomplete_details"))
    return ParsedReply(
        message=AssistantMessage(text=text or refusal, tool_uses=uses),
        stop=Stop.REFUSAL if refusal else _stop(status, cut, uses),
        stop_raw=cut or status,
        usage=_usage(body.get("usage")),
        model=text_of(body.get("model")),
    )


def _spoken(items: list[dict[str, Any]], kind: str, field: str) -> Iterator[str]:
    for item in items:
        if item.get("type") == "message":
            yield from (text_of(part.get(field)) for part in objects_of(item, "content") if part.get("type") == kind)


def _uses(items: list[dict[str, Any]]) -> Iterator[ToolUse]:
    """The tools that the program is asked to use; those that run at the provider's are none of its affair."""
    for item in items:
        id_, name = text_of(item.get("call_id")), text_of(item.get("name"))
        if item.get("type") == "function_call":
            raw = text_of(item.get("arguments"))
            arguments, problem = arguments_of(raw)
            yield ToolUse(id_, name, arguments, raw, problem)
        elif item.get("type") == "custom_tool_call":
            given = text_of(item.get("input"))
            yield ToolUse(id_, name, {"input": given}, given)


def _stop(status: str, cut: str, uses: tuple[ToolUse, ...]) -> Stop:
    if status == "incomplete":
        return _CUT.get(cut, Stop.OTHER)
    if status != "completed":
        return Stop.OTHER
    return Stop.TOOL_USE if uses else Stop.END


def _reason(details: Any) -> str:
    return text_of(details.get("reason")) if isinstance(details, dict) else ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    cache_read, cache_write = (count_of(_details(usage), name) for name in ("cached_tokens", "cache_write_tokens"))
    return Usage(
        # input_tokens counts the cached ones too; our buckets do not overlap.
        input=max(0, count_of(usage, "input_tokens") - cache_read - cache_write),
        output=count_of(usage, "output_tokens"),
        cache_read=cache_read,
        cache_write=cache_write,
    )


def _details(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    details = usage.get("input_tokens_details")
    return details if isinstance(details, dict) else {}
