"""Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from salvo.engine.chat.base import (
    AssistantMessage,
    ChatReply,
    ChatRequest,
    Message,
    Prompt,
    Stop,
    ToolMessage,
    ToolUse,
    Usage,
    UserMessage,
)
from salvo.engine.chat.dialect import (
    checked_arguments,
    credible,
    object_list,
    required_text,
    string_or_empty,
    token_count,
)
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_schema import without_bounds

# On current models thinking is on by default and counts in max_tokens, so a low limit would cut off answers.
_DEFAULT_MAX_TOKENS = 8192

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOL_USE,
    "max_tokens": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
    "model_context_window_exceeded": Stop.CONTEXT,
}


class AnthropicDialect:
    path = "/v1/messages"
    # Pinned: later versions refuse sampling parameters, and a measurement must not change by itself.
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    optional: Mapping[str, str] = {"temperature": "temperature", "output_config": "output_schema"}

    def write(self, model: str, request: ChatRequest, refused: frozenset[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS}
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
        if request.system:
            body["system"] = _content(request.system)
        body["messages"] = [_message(message) for message in request.messages]
        if request.temperature is not None and "temperature" not in refused:
            body["temperature"] = request.temperature
        if request.output_schema is not None and "output_config" not in refused:
            shape = without_bounds(request.output_schema.schema)
            body["output_config"] = {"format": {"type": "json_schema", "schema": shape}}
        return body

    def read(self, body: dict[str, Any]) -> ChatReply:
        blocks = object_list(body, "content")
        stop = string_or_empty(body.get("stop_reason"))
        if not blocks and not ("content" in body and stop):  # a model may end its turn without a word
            raise ValueError("content is missing")
        if not all(string_or_empty(block.get("type")) for block in blocks):
            raise ValueError("a content block has no type")
        if any(block.get("text") is None for block in blocks if block["type"] == "text"):
            raise ValueError("a text block has no text")
        return ChatReply(
            message=AssistantMessage(
                text="".join(string_or_empty(block.get("text")) for block in blocks if block.get("type") == "text"),
                tool_uses=tuple(_tool_use(block) for block in blocks if block.get("type") == "tool_use"),
                verbatim=tuple(_resendable(block) for block in blocks),
            ),
            stop=_STOPS.get(stop, Stop.OTHER),
            stop_raw=stop,
            usage=_usage(body.get("usage")),
            model=string_or_empty(body.get("model")),
        )


def with_cache_breakpoints(body: dict[str, Any], floor: int) -> dict[str, Any]:
    """Return a request whose beginnings are marked to be cached: the tools, the system prompt, and all messages so far.

    What is shorter than the model's floor is not cached, so it is not marked. A token has at least so many bytes that a
    beginning may be marked in vain, which costs nothing, but none is left out that would be cached.
    """
    marked = dict(body)
    size = 0
    for name in ("tools", "system", "messages"):
        if part := body.get(name):
            size += len(json_codec.dumps(part))
            if size >= floor * _LEAST_BYTES_PER_TOKEN:
                marked[name] = _MARKED[name](part)
    return marked


def _mark_last(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks[:-1], {**blocks[-1], **_CACHED}]


def _mark_content(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return _mark_last(blocks) if blocks and blocks[-1].get("type") in ("text", "tool_result") else blocks


def _mark_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    last = messages[-1]
    return [*messages[:-1], {**last, "content": _mark_content(last["content"])}]


_CACHED = {"cache_control": {"type": "ephemeral"}}
_LEAST_BYTES_PER_TOKEN = 2
_MARKED: Mapping[str, Callable[[Any], Any]] = {
    "tools": _mark_last,
    "system": _mark_content,
    "messages": _mark_messages,
}


def _content(prompt: Prompt) -> str | list[dict[str, Any]]:
    if isinstance(prompt, str):
        return prompt
    return [{"type": "text", "text": part.text, **(_CACHED if part.cache else {})} for part in prompt]


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _content(message.content)}
    if isinstance(message, ToolMessage):
        answers = [
            {
                "type": "tool_result",
                "tool_use_id": answer.id,
                "content": answer.content,
                **({"is_error": True} if answer.is_error else {}),
            }
            for answer in message.answers
        ]
        return {"role": "user", "content": answers}
    return {"role": "assistant", "content": list(message.verbatim) or _content_blocks(message)}


def _content_blocks(message: AssistantMessage) -> list[dict[str, Any]]:
    """Return the content of an assistant message that did not come from this provider."""
    # The API refuses empty text blocks.
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    uses = [
        {"type": "tool_use", "id": use.id, "name": use.name, "input": dict(use.arguments)} for use in message.tool_uses
    ]
    return blocks + uses


def _resendable(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as it is sent back: text and tool use with the fields of a request, others unchanged."""
    if block.get("type") == "text":
        return {"type": "text", "text": block.get("text")}
    if block.get("type") == "tool_use":
        return {"type": "tool_use", **{name: block.get(name) for name in ("id", "name", "input")}}
    return block


def _tool_use(block: dict[str, Any]) -> ToolUse:
    arguments, problem = checked_arguments(block.get("input"))
    raw = json.dumps(block.get("input"), ensure_ascii=False)
    name = required_text(block, "name", "a tool call")
    return ToolUse(string_or_empty(block.get("id")), name, arguments, raw, problem)


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    return credible(
        Usage(
            input=token_count(usage, "input_tokens"),
            output=token_count(usage, "output_tokens"),
            cache_read=token_count(usage, "cache_read_input_tokens"),
            cache_write=token_count(usage, "cache_creation_input_tokens"),
        )
    )
