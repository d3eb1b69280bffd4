"""The loopback provider refuses what the real APIs refuse, in their words, and takes what they take."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.http_client import (
    ANTHROPIC_BODY,
    ANTHROPIC_HEADERS,
    ASKING,
    OPENAI_BODY,
    OPENAI_HEADERS,
    ask_anthropic,
    ask_openai,
    post,
)
from tests.support.provider import LoopbackProvider, Say

OPEN_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED_OBJECT = {**OPEN_OBJECT, "additionalProperties": False}
STRICT_OBJECT = {**CLOSED_OBJECT, "required": ["a"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(Say("Hello.")) as provider:
        yield provider


def function(name: str = "track", **fields: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, **fields}}]


def call(use_id: str = "c1", arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": use_id, "type": "function", "function": {"name": "track", "arguments": arguments}}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(use_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": use_id, "content": "here"}


def response_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def said(role: str, *blocks: Any) -> list[dict[str, Any]]:
    return [*ASKING, {"role": role, "content": list(blocks)}]


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def use(use_id: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": use_id, "name": "track", "input": {}, **fields}


def result(use_id: str = "t1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": use_id, "content": "here"}


def loop(*answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [*said("assistant", use()), {"role": "user", "content": list(answer)}]


def output_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


MARK = {"cache_control": {"type": "ephemeral"}}
TRACK = [{"name": "track", "input_schema": {"type": "object"}}]

# What is changed in a good request, the words of the refusal, its param and its code.
OPENAI_REFUSES: list[tuple[dict[str, Any], str, str | None, str | None]] = [
    ({"foo": 1}, "Unrecognized request argument supplied: foo", None, None),
    ({"foo": 1, "bar": 2}, "Unrecognized request arguments supplied: foo, bar", None, None),
    ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled", "stream_options", None),
    ({"model": None}, "you must provide a model parameter", None, None),
    ({"model": 7}, "Invalid type for 'model': expected a string", "model", "invalid_type"),
    ({"messages": None}, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    ({"messages": "hi"}, "expected an array of objects, but got a string", "messages", "invalid_type"),
    ({"messages": []}, "Invalid 'messages': empty array.", "messages", "empty_array"),
    ({"messages": ["hi"]}, "expected an object, but got a string", "messages[0]", "invalid_type"),
    (
        {"messages": [{"content": "hi"}]},
        "Missing required parameter: 'messages[0].role'",
        "messages[0].role",
        "missing_required_parameter",
    ),
    ({"messages": [{"role": "robot"}]}, "Invalid value: 'robot'.", "messages[0].role", "invalid_value"),
    ({"messages": [{"role": "user", "content": None}]}, "got null", "messages.[0].content", None),
    ({"messages": [{"role": "user", "content": []}]}, "empty array", "messages[0].content", "empty_array"),
    ({"messages": [{"role": "user", "content": 7}]}, "but got a number", "messages[0].content", "invalid_type"),
    (
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        "Missing required parameter: 'messages[0].content[0].type'",
        "messages[0].content[0].type",
        "missing_required_parameter",
    ),
    (
        {"messages": [{"role": "user", "content": "hi", "cache_control": {}}]},
        "Unknown parameter: 'messages[0].cache_control'.",
        "messages[0].cache_control",
        "unknown_parameter",
    ),
    (
        {"messages": [*ASKING, {"role": "assistant", "content": None, "tool_calls": []}]},
        "Invalid value for 'content': expected a string, got null.",
        "messages.[1].content",
        None,
    ),
    (
        {"messages": [*ASKING, {"role": "assistant", "content": "", "tool_calls": []}]},
        "Invalid 'messages[1].tool_calls': empty array.",
        "messages[1].tool_calls",
        "empty_array",
    ),
    (
        {"messages": [*ASKING, call(arguments={}), tool()]},
        "expected a string, but got an object instead",
        "messages[1].tool_calls[0].function.arguments",
        "invalid_type",
    ),
    (
        {"messages": [*ASKING, {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function"}]}]},
        "Missing required parameter: 'messages[1].tool_calls[0].function'",
        "messages[1].tool_calls[0].function",
        "missing_required_parameter",
    ),
    (
        {"messages": [*ASKING, call(), {"role": "tool", "content": "here"}]},
        "Missing required parameter: 'messages[2].tool_call_id'",
        "messages[2].tool_call_id",
        "missing_required_parameter",
    ),
    ({"messages": [*ASKING, tool()]}, "must be a response to a preceeding message", "messages.[1].role", None),
    ({"messages": [*ASKING, call(), tool("c2")]}, "must be a response to a preceeding", "messages.[2].role", None),
    ({"messages": [*ASKING, call(), tool(), tool()]}, "must be a response to a prec", "messages.[3].role", None),
    ({"messages": [*ASKING, call()]}, "did not have response messages: c1", "messages.[2].role", None),
    ({"messages": [*ASKING, call(), *ASKING]}, "did not have response messages: c1", "messages.[2].role", None),
    ({"max_tokens": 9, "max_completion_tokens": 9}, "at the same time is not supported", "max_tokens", None),
    ({"tools": []}, "Invalid 'tools': empty array.", "tools", "empty_array"),
    ({"tools": [{"type": "function"}]}, "'tools[0].function'", "tools[0].function", "missing_required_parameter"),
    (
        {"tools": [{"type": "function", "function": {}}]},
        "'tools[0].function.name'",
        "tools[0].function.name",
        "missing_required_parameter",
    ),
    ({"tools": function("track it")}, "does not match pattern", "tools[0].function.name", "invalid_value"),
    (
        {"tools": function(parameters={"properties": {}})},
        "Invalid schema for function 'track': schema must be a JSON Schema of 'type: \"object\"'",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": function(parameters=OPEN_OBJECT, strict=True)},
        "Invalid schema for function 'track': In context=(), 'additionalProperties' is required",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    ({"tool_choice": "auto"}, "'tool_choice' is only allowed when 'tools' are specified.", "tool_choice", None),
    ({"parallel_tool_calls": True}, "only allowed when 'tools' are specified", "parallel_tool_calls", None),
    ({"response_format": {"type": "yaml"}}, "Invalid value: 'yaml'.", "response_format.type", "invalid_value"),
    ({"response_format": {"type": "json_object"}}, "must contain the word 'json'", "messages", None),
    (
        {"response_format": {"type": "json_schema"}},
        "'response_format.json_schema'",
        "response_format.json_schema",
        "missing_required_parameter",
    ),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
        "'response_format.json_schema.name'",
        "response_format.json_schema.name",
        "missing_required_parameter",
    ),
    (
        {"response_format": response_schema(OPEN_OBJECT)},
        (
            "Invalid schema for response_format 'verdict': In context=(), 'additionalProperties' is required to be "
            "supplied and to be false."
        ),
        "response_format",
        None,
    ),
    (
        {"response_format": response_schema({**STRICT_OBJECT, "properties": {"a": CLOSED_OBJECT}})},
        (
            "In context=('properties', 'a'), 'required' is required to be supplied and to be an array including every "
            "key in properties. Missing 'a'."
        ),
        "response_format",
        None,
    ),
    (
        {"response_format": response_schema({"type": "array", "items": {"anyOf": [OPEN_OBJECT]}})},
        "In context=('items', 'anyOf', '0'), 'additionalProperties'",
        "response_format",
        None,
    ),
    (
        {"model": "gpt-5.4-mini", "temperature": 0},
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)",
        "temperature",
        "unsupported_value",
    ),
    (
        {"model": "o4-mini", "max_tokens": 9},
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens",
        "unsupported_parameter",
    ),
    ({"model": "gpt-6-sol", "top_p": 1}, "'top_p' is not supported", "top_p", "unsupported_parameter"),
    (
        {"model": "gpt-5.4", "tools": function(), "reasoning_effort": "low"},
        "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
        "reasoning_effort",
        None,
    ),
    (
        {"model": "gpt-5.6-sol", "tools": function()},
        "use /v1/responses or set reasoning_effort to 'none'",
        "reasoning_effort",
        None,
    ),
    ({"tools": 7}, "We could not parse the JSON body of your request.", None, None),
]

OPENAI_TAKES: list[dict[str, Any]] = [
    {"temperature": 0, "max_tokens": 9, "seed": 1, "top_p": 0.5},
    {"model": "gpt-5.4-mini", "temperature": 1, "max_completion_tokens": 9, "seed": 1},
    {"model": "llama3.2:latest", "temperature": 0, "max_tokens": 9},
    {"model": "gpt-5.4-mini", "tools": function(), "tool_choice": "auto", "parallel_tool_calls": True},
    {"model": "gpt-5.6-sol", "tools": function(), "reasoning_effort": "none"},
    {"messages": [{"role": "system", "content": "Be brief."}, *ASKING, *ASKING]},
    {"messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": [text("Hello.")]}]},
    {"messages": [*ASKING, call(arguments="{malformed"), tool(), *ASKING]},
    {"messages": [*ASKING, call(), tool(), call("c2"), tool("c2")]},
    {"messages": [{"role": "user", "content": "Answer in JSON."}], "response_format": {"type": "json_object"}},
    {"response_format": response_schema({**STRICT_OBJECT, "properties": {"a": {"type": "number", "minimum": 0}}})},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "loose", "schema": OPEN_OBJECT}}},
]

ANTHROPIC_REFUSES: list[tuple[dict[str, Any], str]] = [
    ({"foo": 1}, "foo: Extra inputs are not permitted"),
    ({"seed": 1}, "seed: Extra inputs are not permitted"),
    ({"max_tokens": "many"}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": True}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": ["hi"]}, "messages.0: Input should be a valid dictionary"),
    ({"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    ({"messages": [{"role": "user", "content": "hi", "name": "Ann"}]}, "messages.0.name: Extra inputs"),
    ({"messages": [{"role": "system", "content": "hi"}]}, 'Unexpected role "system"'),
    ({"messages": [{"role": "tool", "content": "hi"}]}, "messages.0.role: Input should be 'user' or 'assistant'"),
    ({"messages": [{"role": "user", "content": None}]}, "messages.0.content: Input should be a valid string or list"),
    ({"messages": [{"role": "user", "content": ""}]}, "messages.0: user messages must have non-empty content"),
    ({"messages": [{"role": "assistant", "content": "Hi."}, *ASKING]}, 'first message must use the "user" role'),
    (
        {"messages": [*ASKING, {"role": "assistant", "content": []}, *ASKING]},
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    ),
    ({"messages": said("user", text(""))}, "messages: text content blocks must be non-empty"),
    ({"messages": said("user", text(" \n"))}, "text content blocks must contain non-whitespace text"),
    ({"messages": said("user", {"type": "text", "text": 7})}, "messages.text: Input should be a valid string"),
    ({"messages": said("user", {"type": "text"})}, "messages.1.content.0.text.text: Field required"),
    ({"messages": said("user", text("hi", id="x"))}, "messages.1.content.0.text.id: Extra inputs are not permitted"),
    (
        {"messages": said("assistant", {"type": "thinking", "thinking": "Hm.", "signature": "s", **MARK})},
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    ({"messages": said("user", use())}, "Input tag 'tool_use' found using 'type' does not match any of the expected"),
    ({"messages": said("assistant", result())}, "Input tag 'tool_result' found using 'type'"),
    (
        {"messages": [*said("assistant", use(input="{}")), *ASKING]},
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    (
        {"messages": said("user", result())},
        "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
    ),
    (
        {"messages": [*said("assistant", use()), *ASKING], "tools": TRACK},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
    ),
    ({"messages": said("assistant", use()), "tools": TRACK}, "messages.1: `tool_use` ids were found without"),
    ({"messages": loop(text("First of all:"), result()), "tools": TRACK}, "`tool_use` ids were found without"),
    (
        {"messages": [*loop(result()), *said("assistant", use())[1:]], "tools": TRACK},
        "messages: `tool_use` ids must be unique",
    ),
    ({"messages": loop(result())}, "Requests which include `tool_use` or `tool_result` blocks must define tools"),
    ({"messages": said("assistant", text("The answer is"))}, "does not support assistant message prefill"),
    (
        {"messages": said("assistant", text("The answer is ")), "model": "claude-haiku-4-5"},
        "final assistant content cannot end with trailing whitespace",
    ),
    ({"system": [text("")]}, "system: text content blocks must be non-empty"),
    ({"system": [{"type": "image"}]}, "system.0.type: Input should be 'text'"),
    ({"tools": [{"name": "track"}]}, "tools.0.custom.input_schema: Field required"),
    ({"tools": [{**TRACK[0], "parameters": {}}]}, "tools.0.custom.parameters: Extra inputs are not permitted"),
    ({"tools": [{**TRACK[0], "name": "track it"}]}, "tools.0.custom.name: String should match pattern"),
    ({"tools": [{"name": "track", "input_schema": {}}]}, "tools.0.custom.input_schema.type: Input should be 'object'"),
    ({"tools": [{**TRACK[0], "strict": True}]}, "'additionalProperties' must be explicitly set to false"),
    ({"tools": TRACK * 2}, "tools: Tool names must be unique."),
    ({"tools": TRACK, "tool_choice": {"type": "all"}}, "tool_choice: Input tag 'all' found using 'type'"),
    ({"tools": TRACK, "tool_choice": {"type": "tool", "name": "x"}}, "Tool 'x' not found in provided tools"),
    ({"tool_choice": {"type": "any"}}, "tool_choice may only be specified while providing tools"),
    ({"output_config": {"form": 1}}, "output_config.form: Extra inputs are not permitted"),
    ({"output_config": {"format": {"type": "json"}}}, "output_config.format.type: Input should be 'json_schema'"),
    ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field required"),
    (
        {"output_config": {"format": {"type": "json_schema", "schema": {}, "strict": True}}},
        "output_config.format.strict: Extra inputs are not permitted",
    ),
    (
        {"output_config": output_schema({"type": "integer", "minimum": 1, "maximum": 5})},
        "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported",
    ),
    (
        {"output_config": output_schema({**CLOSED_OBJECT, "properties": {"a": {"type": "number", "minimum": 0}}})},
        "For 'number' type, property 'minimum' is not supported",
    ),
    ({"output_config": output_schema({"type": ["string", "null"], "maxLength": 9})}, "property 'maxLength'"),
    ({"output_config": output_schema(OPEN_OBJECT)}, "'additionalProperties' must be explicitly set to false"),
    (
        {"output_config": output_schema({"type": "array", "items": {"type": "string"}, "minItems": 2})},
        "'minItems' values other than 0 or 1 are not supported",
    ),
    ({"output_config": output_schema({"anyOf": [OPEN_OBJECT]})}, "must be explicitly set to false"),
    (
        {"messages": said("user", *[text("hi", **MARK)] * 5)},
        "A maximum of 4 blocks with cache_control may be provided.",
    ),
    ({"cache_control": {"type": "eternal"}}, "cache_control.type: Input should be 'ephemeral'"),
    ({"cache_control": {"type": "ephemeral", "ttl": "1d"}}, "ttl: Input should be '5m' or '1h'"),
    ({"temperature": 1.5}, "temperature: range: 0..1"),
    ({"temperature": 0, "top_p": 0.5}, "`temperature` and `top_p` cannot both be specified for this model."),
    ({"temperature": 0, "thinking": {"type": "adaptive"}}, "`temperature` may only be set to 1 when thinking"),
    ({"model": "claude-opus-5", "thinking": {"type": "enabled"}}, '"thinking.type.enabled" is not supported'),
    ({"model": "claude-haiku-4-5", "thinking": {"type": "adaptive"}}, "adaptive thinking is not supported"),
    ({"thinking": {"type": "enabled", "budget_tokens": 99}}, "greater than or equal to 1024"),
    ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "`max_tokens` must be greater than"),
    ({"tools": 7}, "The request body is not valid JSON"),
]

ANTHROPIC_TAKES: list[dict[str, Any]] = [
    {"temperature": 0},
    {"top_p": 0.5, "top_k": 5},
    {"model": "claude-haiku-4-5", "temperature": 0, "system": ""},
    {"model": "claude-haiku-4-5", "messages": said("assistant", text("The answer is"))},
    {"model": "claude-haiku-4-5", "messages": said("assistant")},
    {"max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024}},
    {"model": "claude-opus-5", "thinking": {"type": "adaptive"}},
    {"system": [text("Be brief.", **MARK)], "messages": ASKING * 2},
    {"tools": TRACK, "tool_choice": {"type": "tool", "name": "track"}, "messages": loop(result(), text("So?"))},
    {"output_config": output_schema(STRICT_OBJECT)},
    {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
]


class TestOpenAI:
    @pytest.mark.parametrize("change, words, param, code", OPENAI_REFUSES)
    async def test_refuses(
        self, provider: LoopbackProvider, change: dict[str, Any], words: str, param: str | None, code: str | None
    ) -> None:
        answer = await ask_openai(provider, **change)
        assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")
        assert words in answer.error["message"]
        assert (answer.error["param"], answer.error["code"]) == (param, code)

    @pytest.mark.parametrize("change", OPENAI_TAKES)
    async def test_takes(self, provider: LoopbackProvider, change: dict[str, Any]) -> None:
        answer = await ask_openai(provider, **change)
        assert answer.status == 200, answer.content

    @pytest.mark.parametrize(
        "headers", [{}, {"authorization": "Bearer "}, {"authorization": "Basic abc"}, {"x-api-key": "sk-test"}]
    )
    async def test_wants_a_bearer_key(self, provider: LoopbackProvider, headers: dict[str, str]) -> None:
        answer = await post(f"{provider.openai_url}/chat/completions", OPENAI_BODY, headers)
        assert answer.status == 401
        assert "You didn't provide an API key" in answer.error["message"]

    async def test_does_not_serve_a_retired_model(self, provider: LoopbackProvider) -> None:
        answer = await ask_openai(provider, model="gpt-4.5-preview")
        assert (answer.status, answer.error["code"]) == (404, "model_not_found")

    @pytest.mark.parametrize("body", [b"{", b"[]", b"", b"\xff"])
    async def test_wants_a_json_object(self, provider: LoopbackProvider, body: bytes) -> None:
        answer = await post(f"{provider.openai_url}/chat/completions", body, OPENAI_HEADERS)
        assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")
        assert answer.error["message"].startswith("We could not parse the JSON body of your request.")


class TestAnthropic:
    @pytest.mark.parametrize("change, words", ANTHROPIC_REFUSES)
    async def test_refuses(self, provider: LoopbackProvider, change: dict[str, Any], words: str) -> None:
        answer = await ask_anthropic(provider, **change)
        assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")
        assert words in answer.error["message"]

    @pytest.mark.parametrize("change", ANTHROPIC_TAKES)
    async def test_takes(self, provider: LoopbackProvider, change: dict[str, Any]) -> None:
        answer = await ask_anthropic(provider, **change)
        assert answer.status == 200, answer.content

    @pytest.mark.parametrize("field", ["model", "max_tokens", "messages"])
    async def test_wants_each_required_field(self, provider: LoopbackProvider, field: str) -> None:
        body = {name: value for name, value in ANTHROPIC_BODY.items() if name != field}
        answer = await post(f"{provider.url}/v1/messages", body, ANTHROPIC_HEADERS)
        assert (answer.status, answer.error["message"]) == (400, f"{field}: Field required")

    @pytest.mark.parametrize("parameter", ["temperature", "top_p", "top_k"])
    @pytest.mark.parametrize(
        "model",
        [
            "claude-opus-4-7",
            "claude-opus-5-5",
            "claude-sonnet-5",
            "claude-haiku-5-5",
            "claude-fable-5",
            "claude-mythos-5",
        ],
    )
    async def test_newer_models_refuse_sampling_parameters(
        self, provider: LoopbackProvider, model: str, parameter: str
    ) -> None:
        change: dict[str, Any] = {"model": model, parameter: 1}
        answer = await ask_anthropic(provider, **change)
        assert (answer.status, answer.error["message"]) == (400, f"`{parameter}` is deprecated for this model.")

    @pytest.mark.parametrize("parameter", ["temperature", "top_p", "top_k"])
    async def test_the_newer_version_knows_no_sampling_parameter(
        self, provider: LoopbackProvider, parameter: str
    ) -> None:
        answer = await ask_anthropic(provider, version="2026-10-21", **{parameter: 1})
        assert (answer.status, answer.error["message"]) == (400, f"{parameter}: Extra inputs are not permitted")

    async def test_does_not_serve_a_retired_model(self, provider: LoopbackProvider) -> None:
        answer = await ask_anthropic(provider, model="claude-sonnet-4-20250514")
        assert (answer.status, answer.error["type"]) == (404, "not_found_error")
        assert answer.error["message"] == "model: claude-sonnet-4-20250514"

    @pytest.mark.parametrize("headers", [{}, {"x-api-key": ""}, {"authorization": "Bearer"}])
    async def test_wants_a_key(self, provider: LoopbackProvider, headers: dict[str, str]) -> None:
        headers = {"anthropic-version": "2023-06-01", **headers}
        answer = await post(f"{provider.url}/v1/messages", ANTHROPIC_BODY, headers)
        assert (answer.status, answer.error["type"]) == (401, "authentication_error")

    @pytest.mark.parametrize("headers", [{"x-api-key": "sk-ant-1"}, {"authorization": "Bearer sk-ant-1"}])
    async def test_takes_the_key_in_either_header(self, provider: LoopbackProvider, headers: dict[str, str]) -> None:
        headers = {"anthropic-version": "2023-06-01", **headers}
        assert (await post(f"{provider.url}/v1/messages", ANTHROPIC_BODY, headers)).status == 200
        assert provider.requests[-1].key == "sk-ant-1"

    async def test_wants_a_version_that_it_knows(self, provider: LoopbackProvider) -> None:
        missing = await post(f"{provider.url}/v1/messages", ANTHROPIC_BODY, {"x-api-key": "sk-ant-1"})
        unknown = await ask_anthropic(provider, version="2024-01-01")
        assert (missing.status, missing.error["message"]) == (400, "anthropic-version: header is required")
        assert (unknown.status, unknown.error["type"]) == (400, "invalid_request_error")

    @pytest.mark.parametrize("body", [b"{", b"[]", b""])
    async def test_wants_a_json_object(self, provider: LoopbackProvider, body: bytes) -> None:
        answer = await post(f"{provider.url}/v1/messages", body, ANTHROPIC_HEADERS)
        assert (answer.status, answer.error["message"]) == (400, "The request body is not valid JSON")
