"""Turn a complete reply of OpenAI's Responses API into a stream of events. Pure; see `sse`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.chat.dialect import object_list, string_or_empty
from salvo.engine.gateway.sse import named_events, pieces

_Event = dict[str, Any]

_ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}


def response_stream(reply: Mapping[str, Any]) -> bytes:
    """Return the events: an empty response, each output item in pieces, and the complete response at the end."""
    return named_events({**event, "sequence_number": number} for number, event in enumerate(_events(reply)))


def _events(reply: Mapping[str, Any]) -> Iterator[_Event]:
    status = string_or_empty(reply.get("status"))
    initial = {**reply, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": initial}
    if status not in _ENDS:  # it continues in the background, and the client asks again
        yield {"type": f"response.{status}", "response": dict(reply)}
        return
    yield {"type": "response.in_progress", "response": initial}
    for index, item in enumerate(object_list(reply, "output")):
        place = {"output_index": index}
        start, inside = _item(item, {"item_id": item.get("id") or "", **place})
        yield {"type": "response.output_item.added", **place, "item": start}
        yield from inside
        yield {"type": "response.output_item.done", **place, "item": item}
    yield {"type": _ENDS[status], "response": dict(reply)}


def _item(item: dict[str, Any], place: _Event) -> tuple[dict[str, Any], Iterator[_Event]]:
    """Return the initial item and its events. Types that are not sent in pieces start complete."""
    kind = item.get("type")
    if kind == "message":
        return {**item, "status": "in_progress", "content": []}, _parts(item, place)
    if kind == "function_call":
        initial = {**item, "status": "in_progress", "arguments": ""}
        return initial, _text(item, place, "response.function_call_arguments", "arguments")
    if kind == "custom_tool_call":
        return {**item, "input": ""}, _text(item, place, "response.custom_tool_call_input", "input")
    if kind == "reasoning":
        return {**item, "summary": []}, _summary(item, place)
    return item, iter(())


def _parts(item: dict[str, Any], place: _Event) -> Iterator[_Event]:
    for number, part in enumerate(object_list(item, "content")):
        here = {**place, "content_index": number}
        name, field, more = _KINDS.get(str(part.get("type")), ("", "", {}))
        yield {"type": "response.content_part.added", **here, "part": {**part, field: ""} if field else part}
        if field:
            yield from _text(part, {**here, **more}, name, field)
        yield {"type": "response.content_part.done", **here, "part": part}


_KINDS: dict[str, tuple[str, str, _Event]] = {
    "output_text": ("response.output_text", "text", {"logprobs": []}),
    "refusal": ("response.refusal", "refusal", {}),
}


def _summary(item: dict[str, Any], place: _Event) -> Iterator[_Event]:
    for number, part in enumerate(object_list(item, "summary")):
        here = {**place, "summary_index": number}
        yield {"type": "response.reasoning_summary_part.added", **here, "part": {**part, "text": ""}}
        yield from _text(part, here, "response.reasoning_summary_text", "text")
        yield {"type": "response.reasoning_summary_part.done", **here, "part": part}


def _text(holder: dict[str, Any], place: _Event, name: str, field: str) -> Iterator[_Event]:
    text = string_or_empty(holder.get(field))
    for piece in pieces(text):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, field: text}
