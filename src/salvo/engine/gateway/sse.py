"""Turn a complete reply into the stream of events that a client requested, for each API. Pure.

A recording holds complete replies, so that it does not depend on how an answer was split. In a replay, or if a server
does not stream, a client that wants a stream gets the complete reply in pieces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from salvo.engine.chat.dialect import object_list, object_or_empty, string_or_empty
from salvo.engine.jsonio import json_codec

_PIECE_LENGTH = 40


def openai_stream(reply: Mapping[str, Any], request: Mapping[str, Any]) -> bytes:
    """Return a chat completion as chunks, with a chunk for the usage where the request asks for it."""
    usage = bool(object_or_empty(request, "stream_options").get("include_usage"))
    head = {name: value for name, value in reply.items() if name not in ("choices", "usage", "object")}
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [choice], **({"usage": None} if usage else {})}
        for complete in object_list(reply, "choices")
        for choice in _choice(complete)
    ]
    if usage:
        chunks.append({**head, "choices": [], "usage": reply.get("usage")})
    return b"".join([*(b"data: " + json_codec.dumps(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n"])


def completion_stream(reply: Mapping[str, Any], request: Mapping[str, Any]) -> bytes:
    """Return a completion of the older API as chunks."""
    usage = bool(object_or_empty(request, "stream_options").get("include_usage"))
    head = {name: value for name, value in reply.items() if name not in ("choices", "usage")}
    chunks: list[dict[str, Any]] = []
    for complete in object_list(reply, "choices"):
        pieces = [{**complete, "text": piece, "finish_reason": None} for piece in _pieces(complete.get("text"))]
        # All log probabilities at once, as in a chat completion.
        rest = [{**piece, "logprobs": None} for piece in pieces[1:]]
        end = {**complete, "text": "", "logprobs": None}
        chunks += ({**head, "choices": [choice]} for choice in (*pieces[:1], *rest, end))
    if usage:
        chunks.append({**head, "choices": [], "usage": reply.get("usage")})
    return b"".join([*(b"data: " + json_codec.dumps(chunk) + b"\n\n" for chunk in chunks), b"data: [DONE]\n\n"])


def anthropic_stream(reply: Mapping[str, Any]) -> bytes:
    """Return a message as events: its start, each block with its deltas, and its end."""
    return _named_events(_message_events(reply))


def response_stream(reply: Mapping[str, Any]) -> bytes:
    """Return a reply of the Responses API as events: an empty response, each output item in pieces, and the end."""
    return _named_events({**event, "sequence_number": number} for number, event in enumerate(_response_events(reply)))


def unfinished_stream(stream: bytes, is_end: Callable[[Mapping[str, Any]], bool]) -> bytes:
    """Return one of these streams without its end, as a program got it that broke off."""
    events = stream.split(b"\n\n")[:-1]
    unfinished = takewhile(lambda event: not _ends(event, is_end), events)
    return b"".join(event + b"\n\n" for event in unfinished)


def _ends(event: bytes, is_end: Callable[[Mapping[str, Any]], bool]) -> bool:
    data = event.partition(b"data: ")[2]
    return data == b"[DONE]" or is_end(json_codec.loads(data, nan=True))


def error_event(error: Mapping[str, Any]) -> bytes:
    """Return an event that ends a stream with an error. The official SDKs raise it."""
    return b"event: error\ndata: %b\n\n" % json_codec.dumps(error)


def _named_events(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Return server-sent events, each named by its type."""
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), json_codec.dumps(event)) for event in events
    )


def _pieces(text: Any) -> Iterator[str]:
    """Yield a text in pieces; nothing for other types."""
    for start in range(0, len(text) if isinstance(text, str) else 0, _PIECE_LENGTH):
        yield text[start : start + _PIECE_LENGTH]


def _choice(complete: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    index, message = complete.get("index", 0), complete.get("message")
    if not isinstance(message, dict):
        raise ValueError("a choice has no message")  # noqa: TRY004 - every error in a reply is a ValueError
    logprobs = complete.get("logprobs")

    def chunk(delta: dict[str, Any], finish_reason: Any = None, logprobs: Any = None) -> dict[str, Any]:
        return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}

    texts = {name: value for name, value in message.items() if name in _TEXTS and isinstance(value, str) and value}
    rest = {name: value for name, value in message.items() if name not in (*texts, "tool_calls")}
    yield chunk({**rest, "role": message.get("role") or "assistant"})
    for name in sorted(texts, key=_TEXTS.index):
        for number, piece in enumerate(_pieces(texts[name])):
            # All log probabilities at once, because which tokens are in which piece is unknown.
            yield chunk({name: piece}, logprobs=logprobs if name == "content" and number == 0 else None)
    for number, call in enumerate(object_list(message, "tool_calls")):
        yield from (chunk({"tool_calls": [part]}) for part in _tool_call(number, call))
    yield chunk({}, complete.get("finish_reason"))


_TEXTS = ("reasoning", "reasoning_content", "content", "refusal")
"""Fields that are sent in pieces, in the order in which a model produces them."""


def _tool_call(index: int, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # A function has `arguments`, a custom tool has `input`.
    kind, name = ("custom", "input") if "custom" in call else ("function", "arguments")
    inner = object_or_empty(call, kind)
    value = inner.get(name)
    text = value if isinstance(value, str) else json.dumps({} if value is None else value, ensure_ascii=False)
    yield {**call, "index": index, kind: {**inner, name: ""}}
    for piece in _pieces(text):
        yield {"index": index, kind: {name: piece}}


def _message_events(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    usage = object_or_empty(reply, "usage")
    initial: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield {"type": "message_start", "message": {**reply, **initial}}
    for index, block in enumerate(object_list(reply, "content")):
        start, deltas = _block(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {name: reply.get(name) for name in ("stop_reason", "stop_sequence")}
    more = {name: reply[name] for name in ("stop_details", "container") if reply.get(name) is not None}
    yield {"type": "message_delta", "delta": {**stop, **more}, "usage": {"output_tokens": 0, **usage}}
    yield {"type": "message_stop"}


def _block(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the initial block and its deltas. Types that are not sent in pieces start complete."""
    kind = block.get("type")
    if kind == "text":
        texts = [{"type": "text_delta", "text": piece} for piece in _pieces(block.get("text"))]
        citations = [{"type": "citations_delta", "citation": citation} for citation in block.get("citations") or ()]
        return {**block, "text": "", **({"citations": []} if citations else {})}, texts + citations
    if kind == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block.get("thinking"))]
        signature = {"type": "signature_delta", "signature": block.get("signature") or ""}
        return {**block, "thinking": "", "signature": ""}, [*thoughts, signature]
    if isinstance(block.get("input"), dict):  # tool_use, server_tool_use, mcp_tool_use
        text = json.dumps(block["input"], ensure_ascii=False)
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)]
    return block, []


def _response_events(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    status = string_or_empty(reply.get("status"))
    initial = {**reply, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": initial}
    # With any other status it continues in the background, and the client asks again.
    if status in ("completed", "incomplete", "failed"):
        yield {"type": "response.in_progress", "response": initial}
        for index, item in enumerate(object_list(reply, "output")):
            place = {"output_index": index}
            start, inside = _output_item(item, {"item_id": item.get("id") or "", **place})
            yield {"type": "response.output_item.added", **place, "item": start}
            yield from inside
            yield {"type": "response.output_item.done", **place, "item": item}
    yield {"type": f"response.{status}", "response": dict(reply)}


def _output_item(item: dict[str, Any], place: dict[str, Any]) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return the initial item and its events. Types that are not sent in pieces start complete."""
    kind = item.get("type")
    if kind == "message":
        return {**item, "status": "in_progress", "content": []}, _content_parts(item, place)
    if kind == "function_call":
        initial = {**item, "status": "in_progress", "arguments": ""}
        return initial, _text(item, place, "response.function_call_arguments", "arguments")
    if kind == "custom_tool_call":
        return {**item, "input": ""}, _text(item, place, "response.custom_tool_call_input", "input")
    if kind == "reasoning":
        return {**item, "summary": []}, _summary(item, place)
    return item, iter(())


def _content_parts(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(object_list(item, "content")):
        here = {**place, "content_index": number}
        name, field, more = _PART_KINDS.get(str(part.get("type")), ("", "", {}))
        yield {"type": "response.content_part.added", **here, "part": {**part, field: ""} if field else part}
        if field:
            yield from _text(part, {**here, **more}, name, field)
        yield {"type": "response.content_part.done", **here, "part": part}


_PART_KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "output_text": ("response.output_text", "text", {"logprobs": []}),
    "refusal": ("response.refusal", "refusal", {}),
}


def _summary(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(object_list(item, "summary")):
        here = {**place, "summary_index": number}
        yield {"type": "response.reasoning_summary_part.added", **here, "part": {**part, "text": ""}}
        yield from _text(part, here, "response.reasoning_summary_text", "text")
        yield {"type": "response.reasoning_summary_part.done", **here, "part": part}


def _text(holder: dict[str, Any], place: dict[str, Any], name: str, field: str) -> Iterator[dict[str, Any]]:
    text = string_or_empty(holder.get(field))
    for piece in _pieces(text):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, field: text}
