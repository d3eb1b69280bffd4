"""A model's reasoning is replaced wherever the two protocols put it, and nothing else is."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.wire.redaction.reasoning import without_reasoning

THOUGHT = "The user seems to be lying."

ANTHROPIC_BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmF0dXJl"},
    {"type": "redacted_thinking", "data": THOUGHT},
    {"type": "text", "text": "Hello"},
    {"type": "tool_use", "id": "1", "name": "look", "input": {"reasoning": "kept", "type": "thinking"}},
]
ANTHROPIC_REPLY = {"role": "assistant", "content": ANTHROPIC_BLOCKS, "usage": {"output_tokens": 3}}
ANTHROPIC_REQUEST = {
    "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": ANTHROPIC_BLOCKS},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "kept"}]},
    ]
}
OPENAI_MESSAGE = {
    "role": "assistant",
    "content": "Hello",
    "reasoning_content": THOUGHT,
    "reasoning": THOUGHT,
    "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}, THOUGHT, [THOUGHT]],
    "tool_calls": [{"function": {"name": "look", "arguments": '{"reasoning": "kept"}'}}],
}
OPENAI_PARTS = {
    "role": "assistant",
    "content": [{"type": "reasoning", "text": THOUGHT}],
    "reasoning": {"text": THOUGHT},
}
OPENAI_REPLY = {"choices": [{"index": 0, "message": OPENAI_MESSAGE}, {"index": 1, "message": OPENAI_PARTS}]}
OPENAI_REQUEST = {"reasoning": {"effort": "low"}, "messages": [{"role": "user", "content": "Hi"}, OPENAI_MESSAGE]}

bodies = pytest.mark.parametrize(
    "body",
    [ANTHROPIC_REPLY, ANTHROPIC_REQUEST, OPENAI_REPLY, OPENAI_REQUEST],
    ids=["an Anthropic reply", "an Anthropic request", "an OpenAI reply", "an OpenAI request"],
)


@bodies
def test_no_reasoning_is_left_in(body: dict[str, Any]) -> None:
    before = copy.deepcopy(body)
    clean = without_reasoning(body)
    assert THOUGHT not in json.dumps(clean)
    assert "c2lnbmF0dXJl" not in json.dumps(clean)
    assert body == before


@bodies
def test_the_stand_ins_stay_as_they_are_when_it_is_done_again(body: dict[str, Any]) -> None:
    clean = without_reasoning(body)
    assert without_reasoning(clean) is clean


def test_everything_else_stays_where_it_was() -> None:
    clean = without_reasoning(ANTHROPIC_REPLY)
    assert clean["content"][2:] == ANTHROPIC_BLOCKS[2:]
    assert clean["usage"] == ANTHROPIC_REPLY["usage"]
    assert [block["type"] for block in clean["content"]] == [block["type"] for block in ANTHROPIC_BLOCKS]
    message = without_reasoning(OPENAI_REPLY)["choices"][0]["message"]
    assert {name: message[name] for name in ("role", "content", "tool_calls")} == {
        name: OPENAI_MESSAGE[name] for name in ("role", "content", "tool_calls")
    }
    assert without_reasoning(OPENAI_REQUEST)["reasoning"] == {"effort": "low"}


def test_a_stand_in_tells_whether_two_thoughts_were_the_same() -> None:
    def stand_in(thought: str) -> Any:
        return without_reasoning({"content": [{"type": "thinking", "thinking": thought}]})

    assert stand_in("one") == stand_in("one")
    assert stand_in("one") != stand_in("two")


def test_reasoning_that_only_begins_like_a_stand_in_is_replaced() -> None:
    thought = f"[reasoning sha256:{THOUGHT}"
    assert THOUGHT not in str(without_reasoning({"messages": [{"reasoning": thought}]}))


@pytest.mark.parametrize(
    "body",
    [
        {"content": "Hi", "messages": [{"role": "user", "content": "Hi"}], "choices": [{"message": {"content": "Hi"}}]},
        {"messages": [{"reasoning_content": "", "reasoning": None, "reasoning_details": []}]},
        {"messages": [{"content": [{"type": "text", "text": "thinking"}]}]},
        {"tools": [{"input_schema": {"properties": {"reasoning": {"type": "string"}}}}]},
        {"error": {"type": "overloaded_error"}},
    ],
)
def test_a_body_without_reasoning_comes_back_as_the_very_same_object(body: dict[str, Any]) -> None:
    assert without_reasoning(body) is body


odd: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just("thinking") | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "messages", "choices", "message", "type", "reasoning", "reasoning_details"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(odd)
def test_whatever_shape_a_body_has_nothing_is_raised_and_stand_ins_are_stable(body: Any) -> None:
    clean = without_reasoning(body)
    assert without_reasoning(clean) is clean


@pytest.mark.parametrize("holder", [{"content": None}, {"messages": 3}, {"choices": "x"}, {"content": ["x", 1, None]}])
@pytest.mark.parametrize("kind", [[], {}, None, 1.5])
def test_hostile_shapes_are_left_alone(holder: dict[str, Any], kind: Any) -> None:
    body = {**holder, "messages": [{"content": [{"type": kind}]}, "x", None, 7]}
    assert without_reasoning(body) is body


def test_reasoning_nested_beyond_all_bounds_is_replaced() -> None:
    deep: Any = THOUGHT
    for _ in range(5_000):
        deep = [deep]
    [stand_in] = without_reasoning({"messages": [{"reasoning_details": [deep]}]})["messages"][0]["reasoning_details"]
    assert set(stand_in) == {"sha256"}
