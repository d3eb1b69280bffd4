"""The messages of the Model Context Protocol: headers, events, results."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.mcp import protocol
from salvo.errors import McpAnswerError, McpError


@given(st.text())
def test_any_text_can_be_a_header_and_be_read_again(text: str) -> None:
    value = protocol.header_value(text)
    assert value.isascii()
    assert value.isprintable()
    if value.startswith("=?base64?"):
        encoded = value.removeprefix("=?base64?").removesuffix("?=")
        assert base64.b64decode(encoded).decode("utf-8", "surrogatepass") == text
    else:
        assert value == text == text.strip()


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_the_data_of_events_is_read_whatever_ends_a_line(texts: list[str]) -> None:
    for end in ("\n", "\r\n", "\r"):
        stream = "".join(f": ping{end}{end}event: message{end}data: {text}{end}{end}" for text in texts)
        assert list(protocol.events(stream.encode())) == texts


def test_an_event_may_have_several_lines_and_the_last_one_no_end() -> None:
    assert list(protocol.events(b"data: a\ndata: b\n\nid: 7\n\ndata:c")) == ["a\nb", "c"]


def test_arguments_that_a_schema_marks_are_repeated_in_headers() -> None:
    schema = {
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "page": {"properties": {"size": {"type": "integer", "x-mcp-header": "Size"}}},
            "name": {"type": "string", "x-mcp-header": "no header name"},
            "other": {"type": "string", "x-mcp-header": "Other"},
            "text": {"type": "string"},
        },
        "x-mcp-header": "Root",
    }
    arguments = {"region": "Zürich", "dry": True, "page": {"size": 5}, "name": "x", "text": "y"}
    message = protocol.request(1, "tools/call", {"name": "find", "arguments": arguments}, version=protocol.MODERN)
    assert protocol.request_headers(protocol.MODERN, message, schema) == snapshot(
        {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "find",
            "mcp-param-Size": "5",
            "mcp-param-Dry": "true",
            "mcp-param-Region": "=?base64?WsO8cmljaA==?=",
        }
    )
    assert protocol.request_headers("2025-06-18", message, schema) == {"mcp-protocol-version": "2025-06-18"}


@pytest.mark.parametrize(
    "result, value",
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "text", "text": "{}"}], "structuredContent": {"a": 1}}, {"a": 1}),
        ({"content": [{"type": "text", "text": "no"}], "structuredContent": {"a": 1}, "isError": True}, "no"),
        ({}, ""),
    ],
)
def test_a_result_is_its_structured_content_or_its_text(result: dict[str, Any], value: Any) -> None:
    parsed = protocol.call_result(result, "shop", "find")
    assert (parsed.value, parsed.is_error) == (value, result.get("isError", False))


def test_binary_content_is_named_and_hashed() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    file = {"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA"}}
    parsed = protocol.call_result({"content": [{"type": "text", "text": "look"}, image, file]}, "shop", "find")
    assert parsed.value == snapshot(
        [
            {"type": "text", "text": "look"},
            {
                "type": "image",
                "mimeType": "image/png",
                "data": {
                    "base64_characters": 4,
                    "sha256": "63c1dd951ffedf6f7fd968ad4efa39b8ed584f162f46e715114ee184f8de9201",
                },
            },
            {
                "type": "resource",
                "resource": {
                    "uri": "a://b",
                    "blob": {
                        "base64_characters": 4,
                        "sha256": "63c1dd951ffedf6f7fd968ad4efa39b8ed584f162f46e715114ee184f8de9201",
                    },
                },
            },
        ]
    )
    assert json.loads(parsed.text) == parsed.value


@pytest.mark.parametrize(
    "message, error",
    [
        ({"id": 1}, "answered tools/call with neither a result nor an error"),
        ({"id": 1, "result": []}, "answered tools/call with neither a result nor an error"),
        ({"id": 1, "error": "no"}, "answered tools/call with neither a result nor an error"),
        ({"id": 1, "result": {"resultType": "input_required"}}, "which needs a person or a model to go on"),
    ],
)
def test_an_answer_that_is_none_is_an_error(message: dict[str, Any], error: str) -> None:
    with pytest.raises(McpError, match=error) as caught:
        protocol.read_answer(message, "shop", "tools/call")
    assert not isinstance(caught.value, McpAnswerError)


@pytest.mark.parametrize(
    "result, error",
    [
        ({}, "without a list of tools"),
        ({"tools": [3]}, "a tool without a name"),
        ({"tools": [{"name": ""}]}, "a tool without a name"),
        ({"tools": [{"name": "find"}]}, "without an inputSchema"),
    ],
)
def test_a_list_that_is_none_is_an_error(result: dict[str, Any], error: str) -> None:
    with pytest.raises(McpError, match=error):
        protocol.listed_tools(result, "shop")


@pytest.mark.parametrize("content", [b"{", b"[]", b"3", b"{}", b'{"jsonrpc": "1.0"}', b"\xff", b"[" * 100_000])
def test_what_is_no_message_is_an_error(content: bytes) -> None:
    with pytest.raises(McpError, match="no message of the protocol"):
        protocol.parse_message(content, "shop", "Look at its log.")
