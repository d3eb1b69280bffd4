"""Every request that we can write fits the official SDKs' own types for it."""

from typing import Any

import pytest
from anthropic import transform_schema
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from salvo.engine.chat.anthropic import AnthropicDialect
from salvo.engine.chat.base import (
    AssistantMessage,
    ChatRequest,
    OutputSchema,
    PromptPart,
    ToolAnswer,
    ToolDefinition,
    ToolMessage,
    ToolUse,
    UserMessage,
)
from salvo.engine.chat.openai import OpenAIDialect
from salvo.engine.jsonio.json_schema import is_strict, without_bounds
from tests.conformance.typed_dicts import misfits

SCHEMA = {
    "type": "object",
    "properties": {
        "result": {"enum": ["pass", "fail"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "notes": {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 9},
    },
    "required": ["result", "confidence", "notes"],
    "additionalProperties": False,
}
TOOL = ToolDefinition("search", "Finds flights.", {"type": "object", "properties": {"to": {"type": "string"}}})
USE = ToolUse("call_1", "search", {"to": "JFK"}, '{"to": "JFK"}')
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
VERBATIM = (THINKING, {"type": "tool_use", "id": "call_1", "name": "search", "input": {"to": "JFK"}})

REQUESTS = {
    "plain": ChatRequest((UserMessage("hello"),)),
    "everything": ChatRequest(
        (
            UserMessage((PromptPart("long", cache=True), PromptPart("short"))),
            AssistantMessage("One moment.", (USE,)),
            ToolMessage((ToolAnswer("call_1", "no", is_error=True),)),
            AssistantMessage("", (USE,), VERBATIM),
            ToolMessage((ToolAnswer("call_1", "$99"),)),
        ),
        system=(PromptPart("Be kind.", cache=True),),
        tools=(TOOL,),
        temperature=0.0,
        seed=7,
        max_tokens=100,
        output_schema=OutputSchema("verdict", SCHEMA),
    ),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("official", [True, False])
def test_openai_requests_fit_the_sdks_types(request_: ChatRequest, official: bool) -> None:
    body = OpenAIDialect(official=official).write("gpt-4o", request_, frozenset())
    assert misfits(body, CompletionCreateParamsNonStreaming) == []


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_anthropic_requests_fit_the_sdks_types(request_: ChatRequest) -> None:
    # The SDK's types are those of the newest API version, which dropped sampling; ours is pinned to an older one.
    body = AnthropicDialect().write("claude-sonnet-4-6", request_, frozenset({"temperature"}))
    assert misfits(body, MessageCreateParamsNonStreaming) == []


def test_the_temperature_is_the_only_field_that_the_newest_anthropic_types_do_not_have() -> None:
    body = AnthropicDialect().write("claude-sonnet-4-6", REQUESTS["everything"], frozenset())
    assert misfits(body, MessageCreateParamsNonStreaming) == ["body.temperature: no such field"]


def test_the_schema_we_send_keeps_the_shape_that_the_sdk_would_send() -> None:
    def shape(schema: Any) -> Any:
        """Without words: the SDK writes the limits that it takes out into descriptions."""
        if isinstance(schema, dict):
            return {name: shape(part) for name, part in schema.items() if name not in ("description", "format")}
        return [shape(part) for part in schema] if isinstance(schema, list) else schema

    assert shape(without_bounds(SCHEMA)) == shape(transform_schema(SCHEMA))
    assert is_strict(SCHEMA)


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"modle": "x"}, "body.modle: no such field"),
        ({"max_completion_tokens": "many"}, "body.max_completion_tokens"),
        ({"messages": [{"role": "user"}]}, "content: missing"),
        ({"messages": "hello"}, "body.messages: 'hello' is no list"),
    ],
)
def test_the_referee_can_say_no(change: dict[str, Any], problem: str) -> None:
    body = {**OpenAIDialect(official=True).write("gpt-4o", REQUESTS["plain"], frozenset()), **change}
    assert problem in "\n".join(misfits(body, CompletionCreateParamsNonStreaming))
