"""OpenAI's Responses API, as far as a program of somebody else's speaks it through the gateway: replies are read.

We ask in Chat Completions ourselves, which every compatible server speaks too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.chat.base import AssistantMessage, Stop, ToolUse, Usage
from salvo.engine.chat.dialect import ParsedReply, object_list, string_or_empty, token_count
from salvo.engine.chat.openai import parse_arguments

PATH = "/responses"

_CUT = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}


def read(body: dict[str, Any]) -> ParsedReply:
    """What a reply says; ValueError where it is not what the protocol says."""
    if "output" not in body:
        raise ValueError("output is missing")
    items = object_list(body, "output")
    text = "".join(_spoken(items, "output_text", "text"))
    refusal = "".join(_spoken(items, "refusal", "refusal"))
    uses = tuple(_uses(items))
    status, cut = string_or_empty(body.get("status")), _reason(body.get("incomplete_details"))
    return ParsedReply(
        message=AssistantMessage(text=text or refusal, tool_uses=uses),
        stop=Stop.REFUSAL if refusal else _stop(status, cut, uses),
        stop_raw=cut or status,
        usage=_usage(body.get("usage")),
        model=string_or_empty(body.get("model")),
    )


def _spoken(items: list[dict[str, Any]], kind: str, field: str) -> Iterator[str]:
    for item in items:
        if item.get("type") == "message":
            yield from (
                string_or_empty(part.get(field)) for part in object_list(item, "content") if part.get("type") == kind
            )


def _uses(items: list[dict[str, Any]]) -> Iterator[ToolUse]:
    """The tools that the program is asked to use; those that run at the provider's are none of its affair."""
    for item in items:
        id_, name = string_or_empty(item.get("call_id")), string_or_empty(item.get("name"))
        if item.get("type") == "function_call":
            raw = string_or_empty(item.get("arguments"))
            arguments, problem = parse_arguments(raw)
            yield ToolUse(id_, name, arguments, raw, problem)
        elif item.get("type") == "custom_tool_call":
            given = string_or_empty(item.get("input"))
            yield ToolUse(id_, name, {"input": given}, given)


def _stop(status: str, cut: str, uses: tuple[ToolUse, ...]) -> Stop:
    if status == "incomplete":
        return _CUT.get(cut, Stop.OTHER)
    if status != "completed":
        return Stop.OTHER
    return Stop.TOOL_USE if uses else Stop.END


def _reason(details: Any) -> str:
    return string_or_empty(details.get("reason")) if isinstance(details, dict) else ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    cache_read, cache_write = (token_count(_details(usage), name) for name in ("cached_tokens", "cache_write_tokens"))
    return Usage(
        # input_tokens counts the cached ones too; our buckets do not overlap.
        input=max(0, token_count(usage, "input_tokens") - cache_read - cache_write),
        output=token_count(usage, "output_tokens"),
        cache_read=cache_read,
        cache_write=cache_write,
    )


def _details(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    details = usage.get("input_tokens_details")
    return details if isinstance(details, dict) else {}
