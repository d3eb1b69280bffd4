"""A good answer as the events of each protocol's stream, split as a model would write it: word by word."""

import json
import re
from collections.abc import Iterator
from typing import Any


def events_of(path: str, body: dict[str, Any], request: dict[str, Any]) -> list[bytes]:
    """The events of an answer, in order."""
    if path.endswith("/messages"):
        return [_named(event) for event in _message(body)]
    if path.endswith("/responses"):
        return [_named({**event, "sequence_number": n}) for n, event in enumerate(_response(body))]
    usage = bool((request.get("stream_options") or {}).get("include_usage"))
    chunks = list(_chunks(body, with_usage=usage))
    return [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]


def error_event(path: str) -> bytes:
    if path.endswith("/messages"):
        return _named({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    error = {"message": "The server had an error.", "type": "server_error", "param": None, "code": None}
    return f"data: {json.dumps({'error': error})}\n\n".encode()


def _named(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _words(text: str | None) -> list[str]:
    return re.findall(r"\s*\S{1,12}\s*$|\s*\S{1,12}", text or "")


def _chunks(body: dict[str, Any], *, with_usage: bool) -> Iterator[dict[str, Any]]:
    head = {
        **{name: body[name] for name in body if name not in ("choices", "usage")},
        "object": "chat.completion.chunk",
    }
    empty = {"usage": None} if with_usage else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, **empty, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    [choice] = body["choices"]
    message = choice["message"]
    yield chunk({"role": "assistant", "content": "" if message["content"] is not None else None, "refusal": None})
    for name in ("reasoning_content", "refusal", "content"):
        yield from (chunk({name: word}) for word in _words(message.get(name)))
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]})
        for word in _words(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": word}}]})
    yield chunk({}, choice["finish_reason"])
    if with_usage:
        yield {**head, "choices": [], "usage": body.get("usage")}


def _message(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = body.get("usage") or {}
    start = {**body, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(body["content"]):
        empty: dict[str, dict[str, Any]] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty[block["type"]]}}
        deltas = {
            "text": [{"type": "text_delta", "text": word} for word in _words(block.get("text"))],
            "thinking": [
                *({"type": "thinking_delta", "thinking": word} for word in _words(block.get("thinking"))),
                {"type": "signature_delta", "signature": block.get("signature")},
            ],
            "tool_use": [
                {"type": "input_json_delta", "partial_json": word} for word in _words(json.dumps(block.get("input")))
            ],
        }
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas[block["type"]])
        yield {"type": "content_block_stop", "index": index}
    stop = {name: body[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _response(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**body, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": start}
    yield {"type": "response.in_progress", "response": start}
    for index, item in enumerate(body["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}}
            [part] = item["content"]
            kind = "refusal" if part["type"] == "refusal" else "text"
            name = "response.refusal" if kind == "refusal" else "response.output_text"
            here = {**place, "content_index": 0, **({} if kind == "refusal" else {"logprobs": []})}
            added = {**place, "content_index": 0, "part": {**part, kind: ""}}
            yield {"type": "response.content_part.added", **added}
            for word in _words(part[kind]):
                yield {"type": f"{name}.delta", **here, "delta": word}
            yield {"type": f"{name}.done", **here, kind: part[kind]}
            yield {"type": "response.content_part.done", **added, "part": part}
        elif item["type"] == "function_call":
            yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}}
            for word in _words(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": word}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
        else:
            yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "summary": []}}
            for number, part in enumerate(item["summary"]):
                here = {**place, "summary_index": number}
                yield {"type": "response.reasoning_summary_part.added", **here, "part": {**part, "text": ""}}
                for word in _words(part["text"]):
                    yield {"type": "response.reasoning_summary_text.delta", **here, "delta": word}
                yield {"type": "response.reasoning_summary_text.done", **here, "text": part["text"]}
                yield {"type": "response.reasoning_summary_part.done", **here, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{body['status']}", "response": body}
