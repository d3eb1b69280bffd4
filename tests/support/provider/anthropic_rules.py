"""What the Messages API refuses before a model has seen the request."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.provider.anthropic_errors import (
    deprecated,
    extra,
    invalid,
    missing,
    problem,
    unknown_model,
    unknown_tag,
)
from tests.support.provider.dialect import ApiError
from tests.support.provider.models import is_one_of
from tests.support.provider.request import blocks_of

Body = dict[str, Any]
Schema = dict[str, Any]

PARAMETERS = frozenset({
    "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model",
    "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
})  # fmt: skip
SAMPLING = ("temperature", "top_p", "top_k")
VERSIONS: Mapping[str, frozenset[str]] = {
    "2023-06-01": PARAMETERS | frozenset(SAMPLING),
    "2026-10-21": PARAMETERS,  # no sampling parameter is left, not even at its default
}

RETIRED = ("claude-sonnet-4-20250514", "claude-sonnet-4-0", "claude-3*", "claude-2*", "claude-instant*")
FROM_4_7 = (
    "claude-opus-4-[7-9]*",
    "claude-opus-[5-9]*",
    "claude-sonnet-[5-9]*",
    "claude-haiku-[5-9]*",
    "claude-fable-*",
    "claude-mythos-*",
)
FROM_4_6 = ("claude-*-4-6*", *FROM_4_7)


class Shape(NamedTuple):
    """The fields that an object must and may have."""

    required: frozenset[str]
    optional: frozenset[str]


def _shape(required: str, optional: str = "") -> Shape:
    return Shape(frozenset(required.split()), frozenset(f"type {optional}".split()))


USER_BLOCKS = {
    "text": _shape("text", "cache_control citations"),
    "image": _shape("source", "cache_control transformations"),
    "document": _shape("source", "cache_control title context citations"),
    "search_result": _shape("source title content", "cache_control citations"),
    "tool_result": _shape("tool_use_id", "cache_control content is_error toolset_name"),
}
ASSISTANT_BLOCKS = {
    "text": _shape("text", "cache_control citations"),
    "thinking": _shape("thinking signature"),
    "redacted_thinking": _shape("data"),
    "tool_use": _shape("id name input", "cache_control caller toolset_name"),
}
TOOL = _shape(
    "name input_schema",
    "cache_control description allowed_callers defer_loading eager_input_streaming input_examples strict",
)
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
TOOL_CHOICES = ("auto", "any", "tool", "none")
CACHE_MARKS = 4

# What a JSON schema for the output may not say, by the type it says it of.
UNSUPPORTED_KEYWORDS = {
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "string": {"minLength", "maxLength"},
    "array": {"maxItems", "uniqueItems", "contains"},
    "object": {"minProperties", "maxProperties", "patternProperties"},
}


def check(body: Body, version: str | None) -> None:
    if version is None:
        raise problem("anthropic-version: header is required")
    if version not in VERSIONS:
        raise problem(f'anthropic-version: "{version}" is not a valid API version')
    for name in body:
        if name not in VERSIONS[version]:
            raise extra(name)
    for rule in RULES:
        rule(body)


def fields_are_given(body: Body) -> None:
    for name, kind, expected in (
        ("model", str, "a valid string"),
        ("max_tokens", int, "a valid integer"),
        ("messages", list, "a valid list"),
    ):
        if name not in body:
            raise missing(name)
        if not isinstance(body[name], kind) or isinstance(body[name], bool):
            raise invalid(name, expected)
    if body["max_tokens"] < 0:
        raise invalid("max_tokens", "greater than or equal to 0")


def model_is_served(body: Body) -> None:
    if is_one_of(body["model"], RETIRED):
        raise unknown_model(body["model"])


def sampling_suits_the_model(body: Body) -> None:
    given = [name for name in SAMPLING if body.get(name) is not None]
    if given and is_one_of(body["model"], FROM_4_7):
        raise deprecated(given[0])
    if "temperature" not in given:
        return
    if not 0 <= body["temperature"] <= 1:
        raise problem("temperature: range: 0..1")
    if "top_p" in given:
        raise problem("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    if body["temperature"] != 1 and (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}:
        raise problem("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")


def thinking_suits_the_model(body: Body) -> None:
    thinking = body.get("thinking") or {}
    kind = thinking.get("type")
    if kind == "adaptive" and not is_one_of(body["model"], FROM_4_6):
        raise problem("adaptive thinking is not supported on this model")
    if kind != "enabled":
        return
    if is_one_of(body["model"], FROM_4_7):
        raise problem(
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        )
    if thinking.get("budget_tokens", 0) < 1024:
        raise invalid("thinking.enabled.budget_tokens", "greater than or equal to 1024")
    if body["max_tokens"] <= thinking["budget_tokens"]:
        raise problem("`max_tokens` must be greater than `thinking.budget_tokens`.")


def messages_have_the_right_form(body: Body) -> None:
    messages = body["messages"]
    if not messages:
        raise problem("messages: at least one message is required")
    for n, message in enumerate(messages):
        _message_has_the_right_form(message, f"messages.{n}")
        _message_says_something(message, f"messages.{n}", is_last=n == len(messages) - 1)
    if messages[0]["role"] != "user":
        raise problem('messages: first message must use the "user" role')


def _message_has_the_right_form(message: Any, place: str) -> None:
    if not isinstance(message, dict):
        raise invalid(place, "a valid dictionary")
    for field in ("role", "content"):
        if field not in message:
            raise missing(f"{place}.{field}")
    for field in message.keys() - {"role", "content"}:
        raise extra(f"{place}.{field}")
    if message["role"] == "system":
        raise problem(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )
    if message["role"] not in {"user", "assistant"}:
        raise invalid(f"{place}.role", "'user' or 'assistant'")
    if not isinstance(message["content"], str | list):
        raise invalid(f"{place}.content", "a valid string or list")


def _message_says_something(message: Body, place: str, *, is_last: bool) -> None:
    role, content = message["role"], message["content"]
    if not content:
        if role == "user":
            raise problem(f"{place}: user messages must have non-empty content")
        if not is_last:
            raise problem(
                f"{place}: all messages must have non-empty content except for the optional final assistant message"
            )
        return
    shapes = USER_BLOCKS if role == "user" else ASSISTANT_BLOCKS
    for n, block in enumerate(blocks_of(content)):
        _block_has_the_right_form(block, shapes, f"{place}.content.{n}")


def _block_has_the_right_form(block: Body, shapes: Mapping[str, Shape], place: str) -> None:
    kind = str(block.get("type"))
    if kind not in shapes:
        raise unknown_tag(place, kind, shapes)
    _fields_fit(block, shapes[kind], f"{place}.{kind}")
    if kind == "text":
        _text_says_something(block, "messages")
    if kind == "tool_use" and not isinstance(block["input"], dict):
        raise invalid(f"{place}.tool_use.input", "a valid dictionary")


def _fields_fit(holder: Body, shape: Shape, place: str) -> None:
    for name in sorted(shape.required - holder.keys()):
        raise missing(f"{place}.{name}")
    for name in sorted(holder.keys() - shape.required - shape.optional):
        raise extra(f"{place}.{name}")


def _text_says_something(block: Body, place: str) -> None:
    if not isinstance(block["text"], str):
        raise invalid(f"{place}.text", "a valid string")
    if not block["text"]:
        raise problem(f"{place}: text content blocks must be non-empty")
    if not block["text"].strip():
        raise problem(f"{place}: text content blocks must contain non-whitespace text")


def calls_are_answered(body: Body) -> None:
    """A call has its result at the very beginning of the next message, and a result its call just before."""
    called: list[str] = []
    seen: set[str] = set()
    for n, message in enumerate(body["messages"]):
        results = set(_leading_results(message))
        if unanswered := [call for call in called if call not in results]:
            raise _without_result(unanswered, n - 1)
        _results_were_called_for(message, called, n)
        called = [block["id"] for block in blocks_of(message["content"]) if block["type"] == "tool_use"]
        if len(seen.union(called)) < len(seen) + len(called):
            raise problem("messages: `tool_use` ids must be unique")
        seen.update(called)
    if called:
        raise _without_result(called, len(body["messages"]) - 1)
    if seen and not body.get("tools"):
        raise problem("Requests which include `tool_use` or `tool_result` blocks must define tools")


def _leading_results(message: Body) -> Iterator[str]:
    for block in blocks_of(message["content"]):
        if block["type"] != "tool_result":
            return
        yield block["tool_use_id"]


def _without_result(calls: list[str], n: int) -> ApiError:
    return problem(
        f"messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(calls)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _results_were_called_for(message: Body, called: list[str], n: int) -> None:
    for k, block in enumerate(blocks_of(message["content"])):
        if block["type"] == "tool_result" and block["tool_use_id"] not in called:
            raise problem(
                f"messages.{n}.content.{k}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )


def conversation_ends_with_the_user(body: Body) -> None:
    last = body["messages"][-1]
    if last["role"] == "user":
        return
    if is_one_of(body["model"], FROM_4_6):
        raise problem(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    said = blocks_of(last["content"])
    if said and said[-1].get("text", "").endswith((" ", "\n", "\t")):
        raise problem("messages: final assistant content cannot end with trailing whitespace")


def system_has_the_right_form(body: Body) -> None:
    system = body.get("system")
    if isinstance(system, str) or system is None:
        return  # an empty string is taken, an empty block is not
    for n, block in enumerate(system):
        if block.get("type") != "text":
            raise invalid(f"system.{n}.type", "'text'")
        _fields_fit(block, USER_BLOCKS["text"], f"system.{n}")
        _text_says_something(block, "system")


def tools_have_the_right_form(body: Body) -> None:
    tools = body.get("tools") or []
    for n, tool in enumerate(tools):
        place = f"tools.{n}.custom"
        _fields_fit(tool, TOOL, place)
        if not TOOL_NAME.fullmatch(tool["name"]):
            raise problem(f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool["input_schema"].get("type") != "object":
            raise invalid(f"{place}.input_schema.type", "'object'")
        if tool.get("strict"):
            _schema_is_possible(tool["input_schema"], f"{place}.input_schema")
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise problem("tools: Tool names must be unique.")
    if choice := body.get("tool_choice"):
        _choice_is_possible(choice, names)


def _choice_is_possible(choice: Body, names: list[str]) -> None:
    kind = str(choice.get("type"))
    if kind not in TOOL_CHOICES:
        raise unknown_tag("tool_choice", kind, TOOL_CHOICES)
    if not names:
        raise problem("tool_choice: tool_choice may only be specified while providing tools.")
    if kind == "tool" and choice.get("name") not in names:
        raise problem(f"Tool '{choice.get('name')}' not found in provided tools")


def output_schema_is_possible(body: Body) -> None:
    config = body.get("output_config") or {}
    for name in config.keys() - {"format", "effort"}:
        raise extra(f"output_config.{name}")
    wanted = config.get("format")
    if wanted is None:
        return
    if wanted.get("type") != "json_schema":
        raise invalid("output_config.format.type", "'json_schema'")
    for name in wanted.keys() - {"type", "schema"}:
        raise extra(f"output_config.format.{name}")
    if "schema" not in wanted:
        raise missing("output_config.format.schema")
    _schema_is_possible(wanted["schema"], "output_config.format.schema")


def _schema_is_possible(schema: Schema, place: str) -> None:
    kind = schema.get("type")
    for name in [kind] if isinstance(kind, str) else kind or ():
        _keywords_are_supported(schema, name, place)
    if kind == "object" and schema.get("additionalProperties") is not False:
        raise problem(f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    if kind == "array" and schema.get("minItems", 0) > 1:
        raise problem(f"{place}: For 'array' type, 'minItems' values other than 0 or 1 are not supported")
    for inner in _inner_schemas(schema):
        _schema_is_possible(inner, place)


def _keywords_are_supported(schema: Schema, kind: str, place: str) -> None:
    unsupported = sorted(schema.keys() & UNSUPPORTED_KEYWORDS.get(kind, set()))
    if len(unsupported) == 1:
        raise problem(f"{place}: For '{kind}' type, property '{unsupported[0]}' is not supported")
    if unsupported:
        named = ", ".join(unsupported)
        raise problem(f"{place}: For '{kind}' type, properties {named} are not supported")


def _inner_schemas(schema: Schema) -> Iterator[Schema]:
    for holder in ("properties", "$defs", "definitions"):
        yield from schema.get(holder, {}).values()
    for holder in ("anyOf", "allOf"):
        yield from schema.get(holder, ())
    if isinstance(schema.get("items"), dict):
        yield schema["items"]


def cache_marks_are_few(body: Body) -> None:
    marks = [mark for holder in _markable(body) if (mark := holder.get("cache_control")) is not None]
    for mark in marks:
        if mark.get("type") != "ephemeral":
            raise invalid("cache_control.type", "'ephemeral'")
        if mark.get("ttl", "5m") not in {"5m", "1h"}:
            raise invalid("cache_control.ephemeral.ttl", "'5m' or '1h'")
    if len(marks) > CACHE_MARKS:
        found = len(marks)
        raise problem(f"A maximum of {CACHE_MARKS} blocks with cache_control may be provided. Found {found}.")


def _markable(body: Body) -> Iterator[Body]:
    yield body
    yield from body.get("tools") or ()
    yield from blocks_of(body.get("system"))
    for message in body["messages"]:
        yield from blocks_of(message["content"])


RULES: tuple[Callable[[Body], None], ...] = (
    fields_are_given,
    model_is_served,
    sampling_suits_the_model,
    thinking_suits_the_model,
    messages_have_the_right_form,
    calls_are_answered,
    conversation_ends_with_the_user,
    system_has_the_right_form,
    tools_have_the_right_form,
    output_schema_is_possible,
    cache_marks_are_few,
)
