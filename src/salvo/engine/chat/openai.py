"""OpenAI's Chat Completions API, which compatible servers offer too, and replies of its Responses API.

Our own requests use Chat Completions; programs may use the Responses API through the gateway.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    object_or_empty,
    required_text,
    string_or_empty,
    token_count,
)
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_schema import is_strict
from salvo.engine.wire.base import WireReply

_STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.TOOL_USE,
    "function_call": Stop.TOOL_USE,
    "length": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
}


RESPONSES_PATH = "/responses"
_MESSAGE_FIELDS = frozenset({"role", "content", "tool_calls", "refusal"})


class OpenAIDialect:
    path = "/chat/completions"
    headers: Mapping[str, str] = {}
    optional: Mapping[str, str] = {
        "temperature": "temperature",
        "seed": "seed",
        "max_completion_tokens": "max_tokens",
        "max_tokens": "max_tokens",
        "response_format": "output_schema",
    }

    def __init__(self, *, official: bool, with_tools: Mapping[str, Any] | None = None) -> None:
        """`official`: models of OpenAI need the new name of the token limit; many servers know only the old one.

        `with_tools`: fields that this model needs in requests with tools.
        """
        new, old = "max_completion_tokens", "max_tokens"
        self._limit_names = (new, old) if official else (old, new)
        self._with_tools = with_tools or {}

    def write(self, model: str, request: ChatRequest, refused: frozenset[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model}
        messages = [{"role": "system", "content": _content(request.system)}] if request.system else []
        body["messages"] = messages + [part for message in request.messages for part in _messages(message)]
        if request.tools:
            functions = (
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in request.tools
            )
            body["tools"] = [{"type": "function", "function": function} for function in functions]
            body.update(self._with_tools)
        if request.temperature is not None and "temperature" not in refused:
            body["temperature"] = request.temperature
        if request.seed is not None and "seed" not in refused:
            body["seed"] = request.seed
        limit_name = next((name for name in self._limit_names if name not in refused), None)
        if request.max_tokens is not None and limit_name is not None:
            body[limit_name] = request.max_tokens
        if request.output_schema is not None and "response_format" not in refused:
            output = request.output_schema
            json_schema = {"name": output.name, "strict": is_strict(output.schema), "schema": output.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        return body

    def read(self, body: dict[str, Any]) -> ChatReply:
        choices = object_list(body, "choices")
        if not choices:
            raise ValueError("choices is empty" if "choices" in body else "choices is missing")
        message = choices[0].get("message")
        if not isinstance(message, dict):
            raise ValueError("choices[0].message is missing")  # noqa: TRY004 - every error in a reply is a ValueError
        uses = tuple(_tool_use(call) for call in object_list(message, "tool_calls"))
        stop = string_or_empty(choices[0].get("finish_reason"))
        refusal = string_or_empty(message.get("refusal"))
        # An empty content is an answer where something shows that it is meant; some servers then leave it out.
        is_meant = stop and not message.keys().isdisjoint(_MESSAGE_FIELDS)
        if message.get("content") is None and not (uses or refusal or is_meant):
            raise ValueError("choices[0].message has no content")
        return ChatReply(
            message=AssistantMessage(text=string_or_empty(message.get("content")) or refusal, tool_uses=uses),
            stop=Stop.REFUSAL if refusal else _stop(stop, uses),
            stop_raw=stop,
            usage=_usage(body, "prompt_tokens", "completion_tokens"),
            model=string_or_empty(body.get("model")),
            system_fingerprint=string_or_empty(body.get("system_fingerprint")) or None,
        )


def _stop(stop: str, uses: tuple[ToolUse, ...]) -> Stop:
    # Some servers send "stop" although they call tools.
    return Stop.TOOL_USE if stop == "stop" and uses else _STOPS.get(stop, Stop.OTHER)


def _content(prompt: Prompt) -> str:
    # One string, not parts: the cache needs no hints, and small servers accept only strings.
    return prompt if isinstance(prompt, str) else "".join(part.text for part in prompt)


def _messages(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": _content(message.content)}]
    if isinstance(message, ToolMessage):
        # The protocol has no field for errors, so the text must say so.
        return [{"role": "tool", "tool_call_id": answer.id, "content": answer.content} for answer in message.answers]
    assistant: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.tool_uses:
        assistant["tool_calls"] = [
            {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.raw}}
            for use in message.tool_uses
        ]
    return [assistant]


def _tool_use(call: dict[str, Any]) -> ToolUse:
    function = call.get("function")
    if not isinstance(function, dict):
        raise ValueError("a tool call has no function")  # noqa: TRY004 - every error in a reply is a ValueError
    value = function.get("arguments")
    # The protocol requires a JSON string; some servers send the object itself.
    raw = value if isinstance(value, str) else json.dumps({} if value is None else value, ensure_ascii=False)
    arguments, problem = _parse_arguments(raw)
    name = required_text(function, "name", "a tool call")
    return ToolUse(string_or_empty(call.get("id")), name, arguments, raw, problem)


def _parse_arguments(raw: str) -> tuple[dict[str, Any], str]:
    """Return the arguments of a tool call from their JSON text, and what is wrong with the text."""
    if not raw.strip():
        return {}, ""  # a call of a tool without parameters
    try:
        return checked_arguments(json_codec.loads(raw))
    except ValueError as error:
        return {}, f"The arguments are not JSON: {error}."


def _usage(body: Mapping[str, Any], prompt: str, completion: str) -> Usage | None:
    """Return the usage of a reply whose counts have these names. The first includes cached tokens; ours does not."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    details = object_or_empty(usage, f"{prompt}_details")
    cache_read, cache_write = token_count(details, "cached_tokens"), token_count(details, "cache_write_tokens")
    return credible(
        Usage(
            input=max(0, token_count(usage, prompt) - cache_read - cache_write),
            output=token_count(usage, completion),
            cache_read=cache_read,
            cache_write=cache_write,
        )
    )


def read_usage(reply: WireReply) -> Usage | None:
    """Return the usage of a reply of any API, such as of embeddings; None where it reports none."""
    try:
        body = reply.json()
        usage = object_or_empty(body, "usage") if isinstance(body, dict) else {}
        names = [names for names in _COUNT_NAMES if names[0] in usage]
        return _usage(body, *names[0]) if names else None
    except ValueError:
        return None


_COUNT_NAMES = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))

_INCOMPLETE_STOPS = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}


def read_response(body: dict[str, Any]) -> ChatReply:
    """Return the content of a reply of the Responses API. Raises ValueError where it does not follow the protocol."""
    if "output" not in body:
        raise ValueError("output is missing")
    items = object_list(body, "output")
    if not all(string_or_empty(item.get("type")) for item in items):
        raise ValueError("an item of output has no type")
    if not items and not body.get("status"):
        raise ValueError("output is empty")
    text = "".join(_output_texts(items, "output_text", "text"))
    refusal = "".join(_output_texts(items, "refusal", "refusal"))
    uses = tuple(_output_uses(items))
    status = string_or_empty(body.get("status"))
    reason = string_or_empty(object_or_empty(body, "incomplete_details").get("reason"))
    return ChatReply(
        message=AssistantMessage(text=text or refusal, tool_uses=uses),
        stop=Stop.REFUSAL if refusal else _response_stop(status, reason, uses),
        stop_raw=reason or status,
        usage=_usage(body, "input_tokens", "output_tokens"),
        model=string_or_empty(body.get("model")),
    )


def _output_texts(items: list[dict[str, Any]], kind: str, field: str) -> Iterator[str]:
    for item in items:
        if item.get("type") == "message":
            yield from (
                string_or_empty(part.get(field)) for part in object_list(item, "content") if part.get("type") == kind
            )


def _output_uses(items: list[dict[str, Any]]) -> Iterator[ToolUse]:
    """Yield the tool calls for the program. Tools that run at the provider are left out."""
    for item in items:
        if item.get("type") not in ("function_call", "custom_tool_call"):
            continue
        id_, name = string_or_empty(item.get("call_id")), required_text(item, "name", "a tool call")
        if item.get("type") == "function_call":
            raw = string_or_empty(item.get("arguments"))
            arguments, problem = _parse_arguments(raw)
            yield ToolUse(id_, name, arguments, raw, problem)
        else:
            text = string_or_empty(item.get("input"))
            yield ToolUse(id_, name, {"input": text}, text)


def _response_stop(status: str, reason: str, uses: tuple[ToolUse, ...]) -> Stop:
    if status == "incomplete":
        return _INCOMPLETE_STOPS.get(reason, Stop.OTHER)
    if status != "completed":
        return Stop.OTHER
    return Stop.TOOL_USE if uses else Stop.END
