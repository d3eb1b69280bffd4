"""Replies of OpenAI's Responses API: what they say, why they ended, what they used."""

from typing import Any

import pytest

from salvo.engine.chat.base import Stop, Usage
from salvo.engine.chat.openai import read_response


def reply(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"status": "completed", "model": "gpt-5.4", "output": list(output), **fields}


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def text(said: str) -> dict[str, Any]:
    return {"type": "output_text", "text": said, "annotations": []}


def test_the_texts_of_all_messages_are_what_was_said_and_reasoning_is_not() -> None:
    read = read_response(reply({"type": "reasoning", "summary": []}, message(text("a"), text("b")), message(text("c"))))
    assert (read.message.text, read.stop, read.model) == ("abc", Stop.END, "gpt-5.4")


def test_functions_and_custom_tools_are_told_apart_by_what_they_are_given() -> None:
    function = {"type": "function_call", "call_id": "1", "name": "find", "arguments": '{"id": 7}'}
    broken = {**function, "call_id": "2", "arguments": "{"}
    custom = {"type": "custom_tool_call", "call_id": "3", "name": "run", "input": "ls -l"}
    elsewhere = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    read = read_response(reply(function, broken, custom, elsewhere))
    assert read.stop is Stop.TOOL_USE
    assert [(use.id, use.name, dict(use.arguments), bool(use.problem)) for use in read.message.tool_uses] == [
        ("1", "find", {"id": 7}, False),
        ("2", "find", {}, True),
        ("3", "run", {"input": "ls -l"}, False),
    ]


@pytest.mark.parametrize(
    "fields, stop, raw",
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, Stop.LENGTH, "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Stop.REFUSAL, "content_filter"),
        ({"status": "incomplete", "incomplete_details": None}, Stop.OTHER, "incomplete"),
        ({"status": "queued"}, Stop.OTHER, "queued"),
        ({}, Stop.END, "completed"),
    ],
)  # fmt: skip
def test_why_it_ended_is_told(fields: dict[str, Any], stop: Stop, raw: str) -> None:
    read = read_response(reply(message(text("half")), **fields))
    assert (read.stop, read.stop_raw) == (stop, raw)


def test_a_refusal_is_one_and_its_words_are_the_answer() -> None:
    read = read_response(reply(message({"type": "refusal", "refusal": "No."})))
    assert (read.message.text, read.stop) == ("No.", Stop.REFUSAL)


def test_cached_tokens_are_not_counted_twice_and_unknown_usage_stays_unknown() -> None:
    details = {"cached_tokens": 60, "cache_write_tokens": 10}
    usage = {"input_tokens": 100, "input_tokens_details": details, "output_tokens": 5}
    assert read_response(reply(usage=usage)).usage == Usage(input=30, output=5, cache_read=60, cache_write=10)
    assert read_response(reply(usage={"input_tokens": 3, "output_tokens": 5})).usage == Usage(input=3, output=5)
    assert read_response(reply(usage=None)).usage is None


@pytest.mark.parametrize(
    "body",
    [
        {"status": "completed"},
        reply(output="text"),
        reply({"type": "message", "content": "text"}),
        reply(message({"type": "output_text", "text": 7})),
        reply(usage={"input_tokens": "many"}),
    ],
)
def test_what_is_not_the_protocol_is_said(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"missing|list of objects|a text is|number of tokens"):
        read_response(body)
