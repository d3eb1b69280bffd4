"""What the Chat Completions API refuses before a model has seen the request."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.provider.models import is_one_of
from tests.support.provider.openai_errors import (
    empty_array,
    invalid_value,
    missing,
    problem,
    unknown,
    unknown_model,
    unsupported,
    wrong_type,
)
from tests.support.provider.request import blocks_of, text_of

Body = dict[str, Any]
Schema = dict[str, Any]

PARAMETERS = frozenset({
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
    "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls",
    "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
    "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
    "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
    "web_search_options",
})  # fmt: skip

RETIRED = ("gpt-4.5-preview*", "gpt-4-32k*", "o1-preview*", "o1-mini*")
REASONING = ("gpt-[5-9]*", "o[1-9]*")
# What a reasoning model has no use for. It takes a temperature as long as that changes nothing.
NOT_WITH_REASONING = (
    "max_tokens",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
)
# Reasoning and function tools exclude each other in this API. Up to GPT-5.5 that matters only if reasoning is
# asked for; from GPT-5.6 on a model reasons unless told not to, so tools need an explicit "none".
TOOLS_WITHOUT_REASONING = ("gpt-5.[4-9]*", "gpt-[6-9]*")
REASONS_BY_DEFAULT = ("gpt-5.[6-9]*", "gpt-[6-9]*")

MESSAGE_FIELDS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls", "audio", "function_call"}
    # A message is sent back as it came: compatible servers take their own additions, and so does this one.
    | {"annotations", "reasoning_content"},
    "tool": {"role", "content", "tool_call_id"},
}
INSTEAD_OF_CONTENT = ("tool_calls", "refusal", "audio", "function_call")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
RESPONSE_FORMATS = ("json_object", "json_schema", "text")


def check(body: Body) -> None:
    for rule in RULES:
        rule(body)


def parameters_are_known(body: Body) -> None:
    strangers = [name for name in body if name not in PARAMETERS]
    if strangers:
        plural = "s" if len(strangers) > 1 else ""
        raise problem(f"Unrecognized request argument{plural} supplied: {', '.join(strangers)}")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise problem(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )


def model_is_served(body: Body) -> None:
    model = body.get("model")
    if not model:
        raise problem("you must provide a model parameter")
    if not isinstance(model, str):
        raise wrong_type("model", "a string", model)
    if is_one_of(model, RETIRED):
        raise unknown_model(model)


def parameters_suit_the_model(body: Body) -> None:
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise problem(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
        )
    if not is_one_of(body["model"], REASONING):
        return
    for parameter in NOT_WITH_REASONING:
        if body.get(parameter) is not None:
            raise unsupported(parameter, body[parameter])
    if body.get("temperature") not in {None, 1}:
        raise unsupported("temperature", body["temperature"])


def tools_suit_the_model(body: Body) -> None:
    model = body["model"]
    default = "medium" if is_one_of(model, REASONS_BY_DEFAULT) else "none"
    effort = body.get("reasoning_effort") or default
    if body.get("tools") and effort != "none" and is_one_of(model, TOOLS_WITHOUT_REASONING):
        raise problem(
            f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            param="reasoning_effort",
        )


def messages_have_the_right_form(body: Body) -> None:
    messages = body.get("messages")
    if messages is None:
        raise missing("messages")
    if not isinstance(messages, list):
        raise wrong_type("messages", "an array of objects", messages)
    if not messages:
        raise empty_array("messages")
    for n, message in enumerate(messages):
        place = f"messages[{n}]"
        _message_has_the_right_form(message, place)
        _content_has_the_right_form(message, place)
        _calls_have_the_right_form(message, place)


def _message_has_the_right_form(message: Any, place: str) -> None:
    if not isinstance(message, dict):
        raise wrong_type(place, "an object", message)
    role = message.get("role")
    if role is None:
        raise missing(f"{place}.role")
    if role not in MESSAGE_FIELDS:
        raise invalid_value(f"{place}.role", role, MESSAGE_FIELDS)
    for field in message:
        if field not in MESSAGE_FIELDS[role]:
            raise unknown(f"{place}.{field}")
    if role == "tool" and not message.get("tool_call_id"):
        raise missing(f"{place}.tool_call_id")


def _content_has_the_right_form(message: Body, place: str) -> None:
    content = message.get("content")
    if content is None:
        if any(message.get(field) for field in INSTEAD_OF_CONTENT):
            return
        dotted = place.replace("[", ".[")
        raise problem("Invalid value for 'content': expected a string, got null.", param=f"{dotted}.content")
    if content == []:
        raise empty_array(f"{place}.content")
    if not isinstance(content, str | list):
        raise wrong_type(f"{place}.content", "one of a string or array of objects", content)
    for n, part in enumerate(blocks_of(content)):
        if "type" not in part:
            raise missing(f"{place}.content[{n}].type")


def _calls_have_the_right_form(message: Body, place: str) -> None:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if calls == []:
        raise empty_array(f"{place}.tool_calls")
    for n, call in enumerate(calls):
        for field in ("id", "type", "function"):
            if field not in call:
                raise missing(f"{place}.tool_calls[{n}].{field}")
        arguments = call["function"].get("arguments")
        if not isinstance(arguments, str):
            raise wrong_type(f"{place}.tool_calls[{n}].function.arguments", "a string", arguments)


def calls_are_answered(body: Body) -> None:
    """A tool message answers a call of the turn before it, and a call is answered before the next turn."""
    waiting: list[str] = []
    for n, message in enumerate(body["messages"]):
        if message["role"] != "tool":
            _none_is_waiting(waiting, n)
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
        else:
            raise problem(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
                "with 'tool_calls'.",
                param=f"messages.[{n}].role",
            )
    _none_is_waiting(waiting, len(body["messages"]))


def _none_is_waiting(calls: list[str], n: int) -> None:
    if calls:
        raise problem(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(calls)}",
            param=f"messages.[{n}].role",
        )


def tools_have_the_right_form(body: Body) -> None:
    tools = body.get("tools")
    if tools is None:
        for field in ("tool_choice", "parallel_tool_calls"):
            if body.get(field) not in {None, "none"}:
                raise problem(f"'{field}' is only allowed when 'tools' are specified.", param=field)
        return
    if not tools:
        raise empty_array("tools")
    for n, tool in enumerate(tools):
        for field in ("type", "function"):
            if field not in tool:
                raise missing(f"tools[{n}].{field}")
        _function_has_the_right_form(tool["function"], f"tools[{n}].function")


def _function_has_the_right_form(function: Body, place: str) -> None:
    name = function.get("name")
    if name is None:
        raise missing(f"{place}.name")
    if not TOOL_NAME.fullmatch(name):
        raise problem(
            f"Invalid '{place}.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            param=f"{place}.name",
            code="invalid_value",
        )
    schema = function.get("parameters")
    if schema is None:
        return
    fault = next(strict_faults(schema), None) if function.get("strict") else None
    if schema.get("type") != "object":
        fault = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    if fault:
        raise problem(
            f"Invalid schema for function '{name}': {fault}",
            param=f"{place}.parameters",
            code="invalid_function_parameters",
        )


def response_format_is_possible(body: Body) -> None:
    wanted = body.get("response_format")
    if wanted is None:
        return
    kind = wanted.get("type")
    if kind not in RESPONSE_FORMATS:
        raise invalid_value("response_format.type", kind, RESPONSE_FORMATS)
    if kind == "json_object" and not _mentions_json(body):
        raise problem(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            param="messages",
        )
    if kind == "json_schema":
        _schema_is_possible(wanted.get("json_schema"))


def _schema_is_possible(wanted: Any) -> None:
    if wanted is None:
        raise missing("response_format.json_schema")
    for field in ("name", "schema"):
        if field not in wanted:
            raise missing(f"response_format.json_schema.{field}")
    fault = next(strict_faults(wanted["schema"]), None) if wanted.get("strict") else None
    if fault:
        raise problem(f"Invalid schema for response_format '{wanted['name']}': {fault}", param="response_format")


def strict_faults(schema: Schema, context: tuple[str, ...] = ()) -> Iterator[str]:
    """A strict schema leaves no object open and no property optional."""
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            yield f"In context={context}, 'additionalProperties' is required to be supplied and to be false."
        absent = [name for name in schema.get("properties", {}) if name not in schema.get("required", ())]
        if absent:
            yield (
                f"In context={context}, 'required' is required to be supplied and to be an array including "
                f"every key in properties. Missing '{absent[0]}'."
            )
    for step, inner in _inner_schemas(schema):
        yield from strict_faults(inner, (*context, *step))


def _inner_schemas(schema: Schema) -> Iterator[tuple[tuple[str, ...], Schema]]:
    for holder in ("properties", "$defs"):
        for name, inner in schema.get(holder, {}).items():
            yield (holder, name), inner
    if isinstance(schema.get("items"), dict):
        yield ("items",), schema["items"]
    for n, inner in enumerate(schema.get("anyOf", ())):
        yield ("anyOf", str(n)), inner


def _mentions_json(body: Body) -> bool:
    return any("json" in text_of(message.get("content")).lower() for message in body["messages"])


RULES: tuple[Callable[[Body], None], ...] = (
    parameters_are_known,
    model_is_served,
    messages_have_the_right_form,
    calls_are_answered,
    parameters_suit_the_model,
    tools_have_the_right_form,
    tools_suit_the_model,
    response_format_is_possible,
)
