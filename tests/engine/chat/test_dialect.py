"""Replies are hostile input: whatever a server sends with status 200, it is read rightly or refused clearly."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.chat.anthropic import AnthropicDialect
from salvo.engine.chat.base import ChatReply, ChatRequest, Stop, Usage, UserMessage
from salvo.engine.chat.dialect import Dialect
from salvo.engine.chat.model import WiredModel
from salvo.engine.chat.openai import OpenAIDialect
from salvo.engine.wire.base import WireReply
from salvo.errors import BadReplyError
from tests.support.wires import ScriptedWire


async def reply_to(name: str, body: Any) -> ChatReply:
    wire = ScriptedWire(lambda _: WireReply(200, json.dumps(body).encode()))
    return await WiredModel(name, wire).complete(ChatRequest((UserMessage("hello"),)))


@pytest.mark.parametrize(
    "body, says",
    [
        ([], "not a JSON object"),
        ({}, "choices is missing"),
        ({"hello": "world"}, "choices is missing"),
        ({"choices": []}, "choices is empty"),
        ({"choices": "none"}, "choices is not a list of objects"),
        ({"choices": [{}]}, r"choices\[0\].message is missing"),
        ({"choices": [{"message": {"content": ["x"]}}]}, "a text is list"),
        ({"choices": [{"message": {"tool_calls": [{}]}}]}, "a tool call has no function"),
        ({"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}, "a tool call has no name"),
        ({"choices": [{"message": {}}]}, r"choices\[0\].message has no content"),
        ({"choices": [{"message": {}, "finish_reason": "stop"}]}, r"choices\[0\].message has no content"),
        ({"choices": [{"message": {"content": None}}]}, r"choices\[0\].message has no content"),
        ({"choices": [{"message": {"content": ""}}], "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens is not"),
        ({"error": {"message": "upstream is down", "code": 502}}, "it says: upstream is down"),
    ],
)
async def test_an_answer_that_is_not_the_openai_protocol_is_a_bad_reply(body: Any, says: str) -> None:
    with pytest.raises(BadReplyError, match=says):
        await reply_to("openai/gpt-5.4-mini", body)


@pytest.mark.parametrize(
    "body, says",
    [
        ({"content": "hello"}, "content is not a list of objects"),
        ({"content": [{"type": "text", "text": 7}]}, "a text is int"),
        ({"hello": "world"}, "content is missing"),
        ({"content": []}, "content is missing"),
        ({"content": [{"text": "hello"}]}, "a content block has no type"),
        ({"content": [{"type": "text"}]}, "a text block has no text"),
        ({"content": [{"type": "tool_use", "id": "1"}]}, "a tool call has no name"),
        ({"content": [{"type": "text", "text": ""}], "usage": {"input_tokens": True}}, "usage.input_tokens is not a"),
    ],
)
async def test_an_answer_that_is_not_the_anthropic_protocol_is_a_bad_reply(body: Any, says: str) -> None:
    with pytest.raises(BadReplyError, match=says):
        await reply_to("anthropic/claude-sonnet-4-6", body)


async def test_small_servers_that_leave_things_out_are_understood() -> None:
    arguments = {"to": "JFK"}
    call = {"id": "1", "function": {"name": "search", "arguments": arguments}}
    reply = await reply_to("openai/llama", {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]})
    assert reply.stop is Stop.TOOL_USE, "some say stop although they ask for tools"
    assert reply.message.tool_uses[0].arguments == arguments, "some send the arguments as an object"
    assert (reply.model, reply.usage) == ("llama", None)


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": ""}},
        {"message": {"role": "assistant"}, "finish_reason": "length"},
        {"message": {"content": None}, "finish_reason": "stop"},
    ],
)
async def test_a_model_may_answer_with_nothing(choice: dict[str, Any]) -> None:
    assert (await reply_to("openai/gpt-5.4-mini", {"choices": [choice]})).text == ""


@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
async def test_more_tokens_than_any_call_can_have_are_not_believed(name: str) -> None:
    answer = {"choices": [{"message": {"content": "hi"}}], "usage": {name: 10**30}}
    assert (await reply_to("openai/gpt-5.4-mini", answer)).usage is None
    block = {"type": "text", "text": "hi"}
    usage = {name.replace("prompt", "input").replace("completion", "output"): 10**30}
    assert (await reply_to("anthropic/claude-sonnet-4-6", {"content": [block], "usage": usage})).usage is None


async def test_a_stop_reason_of_the_future_is_other_and_keeps_its_name() -> None:
    reply = await reply_to("anthropic/claude-sonnet-4-6", {"content": [], "stop_reason": "pause_turn"})
    assert (reply.stop, reply.stop_raw) == (Stop.OTHER, "pause_turn")


async def test_a_tool_input_that_is_no_object_is_malformed_arguments() -> None:
    block = {"type": "tool_use", "id": "1", "name": "search", "input": "JFK"}
    reply = await reply_to("anthropic/claude-sonnet-4-6", {"content": [block], "stop_reason": "tool_use"})
    assert reply.message.tool_uses[0].problem == "The arguments are not a JSON object but str."
    assert reply.message.tool_uses[0].raw == '"JFK"'


async def test_openai_counts_cached_and_written_tokens_within_the_prompt() -> None:
    details = {"cached_tokens": 900, "cache_write_tokens": 50}
    usage = {"prompt_tokens": 1050, "completion_tokens": 20, "prompt_tokens_details": details}
    reply = await reply_to("openai/gpt-5.4-mini", {"choices": [{"message": {"content": "hi"}}], "usage": usage})
    assert reply.usage == Usage(input=100, output=20, cache_read=900, cache_write=50)


NAMES = (
    *("choices", "message", "content", "tool_calls", "function", "arguments", "usage", "type", "text", "input", "id"),
    *("name", "finish_reason", "stop_reason", "refusal", "model", "prompt_tokens", "prompt_tokens_details"),
)
ODD = st.sampled_from([None, True, 0, -1, 2.5, "", "text", "tool_use", "stop", "{", "[1]"])
SHAPED = st.recursive(
    ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=15,
)


@pytest.mark.parametrize("dialect", [OpenAIDialect(official=True), AnthropicDialect()], ids=["openai", "anthropic"])
@given(body=st.dictionaries(st.sampled_from(NAMES), SHAPED, max_size=6))
def test_an_answer_of_any_shape_is_read_or_refused_with_a_value_error(dialect: Dialect, body: dict[str, Any]) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(dialect.read(body).message.text, str)
