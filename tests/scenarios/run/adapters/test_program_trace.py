"""What is read from a program's traffic that no loopback provider can be made to send."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from salvo.engine.chat.base import Usage
from salvo.engine.gateway.server import Call
from salvo.engine.wire.base import WireReply
from salvo.scenarios.result import ToolCall
from salvo.scenarios.run.adapters.program_trace import ProgramTrace, TurnLimitReached
from salvo.scenarios.run.journal import Journal
from tests.support.clock import HeldClock

Heard = tuple[ProgramTrace, Journal, list[ToolCall]]


@pytest.fixture
async def heard() -> Heard:
    journal, calls = Journal(HeldClock()), list[ToolCall]()
    return ProgramTrace(journal, calls, max_turns=20), journal, calls


def chat(number: int, *messages: dict[str, Any], model: str = "gpt-5.4-mini") -> Call:
    return Call(number, "openai", "/chat/completions", {"model": model, "messages": list(messages)}, is_chat=True)


def completion(text: str, *calls: tuple[str, str], usage: bool = True) -> WireReply:
    uses = [{"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}} for id_, name in calls]
    body: dict[str, Any] = {
        "model": "gpt-5.4-mini",
        "choices": [{"index": 0, "message": {"content": text, "tool_calls": uses}, "finish_reason": "stop"}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 5}
    return WireReply(200, json.dumps(body).encode())


def tool(id_: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


async def test_the_journal_is_in_the_order_of_asking_whoever_is_answered_first(heard: Heard) -> None:
    traffic, journal, calls = heard
    first, second = chat(1, {"role": "user", "content": "a"}), chat(2, {"role": "user", "content": "b"})
    for call in (first, second):
        traffic.requested(call)
    traffic.answered(second, completion("two", ("x", "late")))
    traffic.answered(first, completion("one", ("y", "early")))
    assert [event.data["text"] for event in journal.events] == ["one", "two"]
    assert [call.name for call in calls] == ["early", "late"]


async def test_a_server_that_gives_every_call_the_same_id_has_its_answers_told_apart_by_their_order(
    heard: Heard,
) -> None:
    traffic, _, calls = heard
    traffic.requested(chat(1))
    traffic.answered(chat(1), completion("", ("", "one"), ("", "two")))
    traffic.requested(chat(2, tool("", "1"), tool("", "2")))
    traffic.answered(chat(2), completion("", ("", "three")))
    traffic.requested(chat(3, tool("", "1"), tool("", "2"), tool("", [{"type": "text", "text": "3"}])))
    assert [call.result for call in calls] == [1, 2, 3]


async def test_an_answer_to_a_tool_that_no_model_asked_for_here_is_none_of_the_run(heard: Heard) -> None:
    traffic, journal, calls = heard
    traffic.requested(chat(1, tool("an example in the prompt", "7")))
    assert (journal.events, calls) == ([], [])


async def test_a_call_that_nobody_can_price_leaves_the_cost_unknown(heard: Heard) -> None:
    traffic, journal, _ = heard
    traffic.answered(chat(1), completion("hi"))
    assert (journal.cost or 0) > 0
    traffic.answered(Call(2, "openai", "/embeddings", {"model": "m"}, is_chat=False), WireReply(200, b"{}"))
    assert (journal.cost, journal.usage, journal.model_calls) == (None, None, 2)


async def test_embeddings_are_priced_by_their_usage(heard: Heard) -> None:
    traffic, journal, _ = heard
    traffic.answered(chat(1), completion("hi"))
    chat_cost = journal.cost or 0
    usage = b'{"data": [], "usage": {"prompt_tokens": 1000000, "total_tokens": 1000000}}'
    call = Call(2, "openai", "/embeddings", {"model": "text-embedding-3-small"}, is_chat=False)
    traffic.answered(call, WireReply(200, usage))
    assert journal.cost == pytest.approx(chat_cost + 0.02)


@pytest.mark.parametrize("path, body", [("/models", None), ("/v1/messages/count_tokens", {"model": "m"})])
async def test_what_is_free_costs_nothing(heard: Heard, path: str, body: Any) -> None:
    traffic, journal, _ = heard
    traffic.answered(chat(1), completion("hi"))
    traffic.answered(Call(2, "anthropic", path, body, is_chat=False), WireReply(200, b"{}"))
    assert (journal.model_calls, journal.usage) == (1, Usage(10, 5))


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"error": {"message": "busy"}}', b'{"choices": []}'])
async def test_an_answer_that_is_no_completion_is_the_providers_fault(heard: Heard, body: bytes) -> None:
    traffic, journal, _ = heard
    traffic.answered(chat(1), WireReply(200, body))
    assert "did not answer with a completion" in str(traffic.error)
    assert [event.type for event in journal.events] == ["model_error"]


@pytest.mark.parametrize("later, is_fault", [(chat(3), False), (chat(1), True)], ids=["asked after", "asked before"])
async def test_a_fault_is_over_when_a_model_answers_what_was_asked_after_it(
    heard: Heard, later: Call, is_fault: bool
) -> None:
    traffic, _, _ = heard
    for number in (1, 2):
        traffic.requested(chat(number))
    traffic.answered(chat(2), WireReply(500, b"{}"))
    if later.number == 3:
        traffic.requested(later)
    traffic.answered(later, completion("well"))
    assert (traffic.error is not None) is is_fault


@pytest.mark.parametrize("spoil", [lambda body: {**body, "messages": 7}, lambda body: {**body, "messages": [7, {}]}])
async def test_a_request_of_no_known_shape_is_left_to_the_provider(heard: Heard, spoil: Callable[[Any], Any]) -> None:
    traffic, journal, _ = heard
    traffic.answered(chat(1), completion("", ("x", "find")))
    traffic.requested(Call(2, "openai", "/chat/completions", spoil({"model": 7}), is_chat=True))
    assert [event.type for event in journal.events] == ["model"]


async def test_after_the_turn_limit_nothing_more_is_noted(heard: Heard) -> None:
    _, journal, calls = heard
    traffic = ProgramTrace(journal, calls, max_turns=1)
    traffic.requested(chat(1))
    for number in (2, 3):
        with pytest.raises(TurnLimitReached) as limit:
            traffic.requested(chat(number))
        traffic.failed(chat(number), limit.value)
    assert [event.type for event in journal.events] == ["turn_limit"]
