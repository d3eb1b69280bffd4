"""Assemble the events of a streamed reply into the reply that the same request gets without streaming. Pure.

Each function takes the events so far, also of a stream that broke off, and raises ValueError where one is malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.records import record

Event: TypeAlias = Mapping[str, Any]

_LARGEST_INDEX = 1_000
_HEAD_IGNORED = ("choices", "usage", "object", "obfuscation")


class _Text(list[str]):
    """The pieces of a text, which are joined once: adding to a long text takes longer with each piece."""


@record
class StreamProtocol:
    """How an API streams: how a reply is assembled, and which event is the first of its end."""

    assemble: Callable[[Sequence[Event]], dict[str, Any]]
    is_end: Callable[[Event], bool]
    reports_usage_on_request: bool = False
    """Whether the usage comes only with `stream_options: {include_usage: true}`, in an event without choices."""


def stream_protocol(path: str) -> StreamProtocol | None:
    """Return how the API at a path streams; None where it does not."""
    bare_path = path.partition("?")[0]
    return next((protocol for end, protocol in _PROTOCOLS.items() if bare_path.endswith(end)), None)


def stream_error(event: Event) -> str | None:
    """Return the message of an event that reports an error; None for other events."""
    error = event.get("error")
    if not error and event.get("type") != "error":
        return None
    source = error if isinstance(error, dict) else event
    message = source.get("message")
    return message if isinstance(message, str) else "an error without a message"


def _assemble_chat(events: Sequence[Event]) -> dict[str, Any]:
    """Assemble the chunks of a chat completion."""
    choices: dict[int, dict[str, Any]] = {}
    for chunk in events:
        for part in _objects(chunk.get("choices")):
            choice = _choice(choices, part, message={"role": "assistant", "content": None})
            delta = part.get("delta")
            if isinstance(delta, dict):
                _merge(choice["message"], delta)
    for choice in choices.values():
        choice["message"] = _joined(choice["message"])
        for call in _objects(choice["message"].get("tool_calls")):
            call.pop("index", None)
    return _completion(events, choices, "chat.completion")


def _assemble_text(events: Sequence[Event]) -> dict[str, Any]:
    """Assemble the chunks of a completion of the older API."""
    choices: dict[int, dict[str, Any]] = {}
    for chunk in events:
        for part in _objects(chunk.get("choices")):
            choice = _choice(choices, part, text=_Text())
            if isinstance(text := part.get("text"), str):
                choice["text"].append(text)
    for choice in choices.values():
        choice["text"] = _joined(choice["text"])
    return _completion(events, choices, "text_completion")


def _choice(choices: dict[int, dict[str, Any]], part: Event, **content: Any) -> dict[str, Any]:
    index = _index(part.get("index", 0))
    choice = choices.setdefault(index, {"index": index, **content, "logprobs": None, "finish_reason": None})
    choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
    logprobs = part.get("logprobs")
    if isinstance(logprobs, dict):
        choice["logprobs"] = choice["logprobs"] or {}
        for name, value in logprobs.items():
            if isinstance(value, list) and isinstance(present := choice["logprobs"].get(name), list):
                present.extend(value)
            else:
                choice["logprobs"][name] = list(value) if isinstance(value, list) else value
    return choice


def _completion(events: Sequence[Event], choices: dict[int, dict[str, Any]], kind: str) -> dict[str, Any]:
    reply: dict[str, Any] = {"object": kind}
    usage = None
    for chunk in events:
        reply.update({name: value for name, value in chunk.items() if name not in _HEAD_IGNORED})
        usage = chunk.get("usage") or usage
    reply["choices"] = [choices[index] for index in sorted(choices)]
    return {**reply, "usage": usage} if usage else reply


def _merge(target: dict[str, Any], delta: Event) -> None:
    """Add a piece of a message: texts are continued, lists by the index of their items, and other values replaced."""
    for name, value in delta.items():
        present = target.get(name)
        if value is None:
            target.setdefault(name, None)
        elif isinstance(value, str) and name not in ("role", "type", "id"):
            _continue_text(target, name, value)
        elif isinstance(value, dict) and isinstance(present, dict):
            _merge(present, value)
        elif isinstance(value, list):
            target[name] = _merged_list(present if isinstance(present, list) else [], value)
        elif isinstance(value, dict):
            target[name] = {}
            _merge(target[name], value)
        else:
            target[name] = value


def _continue_text(target: dict[str, Any], name: str, piece: str) -> None:
    present = target.get(name)
    if isinstance(present, _Text):
        present.append(piece)
    else:
        target[name] = _Text([present, piece] if isinstance(present, str) else [piece])


def _joined(value: Any) -> Any:
    """Return a value with each text in one piece."""
    if isinstance(value, _Text):
        return "".join(value)
    if isinstance(value, dict):
        return {name: _joined(item) for name, item in value.items()}
    return [_joined(item) for item in value] if isinstance(value, list) else value


def _merged_list(present: list[Any], pieces: list[Any]) -> list[Any]:
    for piece in pieces:
        if not isinstance(piece, dict) or "index" not in piece:
            present.append(piece)
            continue
        index = _index(piece["index"])
        same = present[index] if index < len(present) else None  # where almost every server puts it
        if not isinstance(same, dict) or same.get("index") != index:
            same = next((item for item in present if isinstance(item, dict) and item.get("index") == index), None)
        if same is None:
            same = {}
            present.append(same)
        _merge(same, piece)
    return present


def _assemble_message(events: Sequence[Event]) -> dict[str, Any]:
    """Assemble the events of an Anthropic message."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, list[str]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            message = dict(_object(event, "message"))
        elif kind == "content_block_start":
            blocks[_index(event.get("index"))] = dict(_object(event, "content_block"))
        elif kind == "content_block_delta":
            index = _index(event.get("index"))
            if index not in blocks:
                raise ValueError(f"content block {index} was not started")
            delta = _object(event, "delta")
            if delta.get("type") == "input_json_delta":
                inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
            else:
                _continue_block(blocks[index], delta)
        elif kind == "message_delta":
            message.update(_object(event, "delta"))
            present, usage = message.get("usage"), event.get("usage")
            if isinstance(usage, dict):
                new = {name: value for name, value in usage.items() if value is not None}
                message["usage"] = {**(present if isinstance(present, dict) else {}), **new}
    for index, pieces in inputs.items():
        blocks[index]["input"] = _input("".join(pieces))
    return {**message, "content": [_joined(blocks[index]) for index in sorted(blocks)]}


def _continue_block(block: dict[str, Any], delta: Event) -> None:
    for name, value in delta.items():
        if name == "citation":
            block["citations"] = block.get("citations") or []
            block["citations"].append(value)
        elif isinstance(value, str) and name != "type":
            _continue_text(block, name, value)
        elif name != "type":
            block[name] = value


def _input(text: str) -> Any:
    try:
        return json_codec.loads(text) if text.strip() else {}
    except ValueError:
        return {"INVALID_JSON": text}  # a stream that broke off, or a model that wrote no JSON


def _assemble_response(events: Sequence[Event]) -> dict[str, Any]:
    """Take the reply of the Responses API from its last event, or from the items that were finished before."""
    response: dict[str, Any] = {}
    items: list[Any] = []
    for event in events:
        if isinstance(event.get("response"), dict):
            response = dict(event["response"])
        elif event.get("type") == "response.output_item.done":
            items.append(event.get("item"))
    return response if response.get("output") or not items else {**response, "output": items}


def _is_end_of_completion(event: Event) -> bool:
    choices = _objects(event.get("choices"))
    return any(choice.get("finish_reason") for choice in choices) or (not choices and bool(event.get("usage")))


_PROTOCOLS: Mapping[str, StreamProtocol] = {
    "/chat/completions": StreamProtocol(_assemble_chat, _is_end_of_completion, reports_usage_on_request=True),
    "/completions": StreamProtocol(_assemble_text, _is_end_of_completion, reports_usage_on_request=True),
    "/responses": StreamProtocol(
        _assemble_response,
        lambda event: event.get("type") in ("response.completed", "response.incomplete", "response.failed"),
    ),
    "/messages": StreamProtocol(
        _assemble_message, lambda event: event.get("type") in ("message_delta", "message_stop")
    ),
}
"""By the end of the path. The order matters: the first one that fits is taken."""


def _objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _object(event: Event, name: str) -> dict[str, Any]:
    value = event.get(name)
    if not isinstance(value, dict):
        raise ValueError(f"an event {event.get('type')} has no {name}")  # noqa: TRY004 - malformed data, not a wrong call
    return value


def _index(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value <= _LARGEST_INDEX:
        raise ValueError(f"{value!r} is not an index")
    return value
