"""Which calls are as expected, in each mode, and the first difference where they are not."""

import time
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.runtime import safe_regex
from salvo.scenarios.result import Cause, EvalResult, ToolCall
from tests.support.evaluation import evaluate, findings, run

ALL = "search_flights", "book_flight", "get_booking_confirmation"
names = st.sampled_from("abc")
calls = st.lists(st.tuples(names, st.integers(0, 1)), max_size=5)
wanted = st.lists(st.tuples(names, st.none() | st.integers(0, 1)), max_size=4)


async def sequence(expected: list[Any], *made: str | ToolCall, **fields: Any) -> EvalResult:
    called = [ToolCall(call, {}) if isinstance(call, str) else call for call in made]
    return await evaluate({"type": "tool_sequence", "expected": expected, **fields}, run("", *called))


async def difference(expected: list[Any], *made: str | ToolCall, **fields: Any) -> str:
    found = await sequence(expected, *made, **fields)
    assert found.passed is (found.message == "")
    return found.message


def book(**arguments: Any) -> ToolCall:
    return ToolCall("book_flight", arguments)


async def test_the_documents_sequence_passes_when_it_is_made_exactly() -> None:
    found = await sequence(list(ALL), *ALL)
    assert (found.passed, found.expected, found.actual) == (True, list(ALL), list(ALL))


@pytest.mark.parametrize(
    "made, said",
    [
        (["search_flights", "cancel_flight"], "expected book_flight as call 2, got cancel_flight"),
        (["search_flights"], "expected book_flight as call 2, but the agent made only 1 call"),
        ([], "expected search_flights as call 1, but no tool was called"),
        ([*ALL[:2]], "expected get_booking_confirmation as call 3, but the agent made only 2 calls"),
        ([*ALL, "pay"], "expected no call after 3, got pay"),
    ],
)
async def test_exact_shows_the_first_difference(made: list[str], said: str) -> None:
    assert await difference(list(ALL), *made) == said


async def test_an_empty_list_asserts_that_no_tool_is_called() -> None:
    assert await difference([]) == ""
    assert await difference([], "pay") == "expected no call after 0, got pay"


@pytest.mark.parametrize("mode", ["subset", "in_order"])
async def test_in_order_lets_other_calls_stand_between(mode: str) -> None:
    assert await difference(["a", "c"], "x", "a", "b", "c", "y", mode=mode) == ""
    assert await difference(["a", "c"], "c", "a", "b", mode=mode) == (
        "expected c after call 2 (a), but it was not called"
    )
    assert await difference(["a"], mode=mode) == "expected a, but there was no other call"
    assert await difference(["a", "a"], "a", mode=mode) == "expected a after call 1 (a), but there was no other call"


async def test_in_any_order_takes_each_call_as_often_as_it_is_listed_and_no_other() -> None:
    assert await difference(["a", "b", "a"], "a", "a", "b", mode="any_order") == ""
    assert await difference(["a", "a"], "a", "b", mode="any_order") == "expected a 2 times, but it was not called again"
    assert await difference(["a"], "b", "a", mode="any_order") == "expected no other call, got b as call 1"
    assert await difference(["a"], "b", "a", mode="any_order", allow_extra=True) == ""
    assert await difference(["a", "c"], "b", "a", mode="any_order", allow_extra=True) == (
        "expected c, but it was not called"
    )


async def test_a_call_that_failed_was_made_all_the_same() -> None:
    assert await difference(["pay"], ToolCall("pay", {}, error="no money")) == ""


async def test_listed_arguments_must_match_and_others_may_be_there() -> None:
    expected = [{"name": "book_flight", "arguments": {"to": "JFK", "who": {"name": "Ada"}}}]
    assert await difference(expected, book(to="JFK", who={"name": "Ada", "age": 36}, seat="1A")) == ""
    assert await difference(expected, book(to="LAX", who={"name": "Ada"})) == (
        'expected book_flight as call 1 with to "JFK", got "LAX"'
    )
    assert await difference(expected, book(to="JFK", who={"name": "Bob"})) == (
        'expected book_flight as call 1 with who.name "Ada", got "Bob"'
    )
    assert await difference(expected, book(to="JFK", who={})) == (
        'expected book_flight as call 1 with who.name "Ada", but it is missing'
    )
    assert await difference(expected, book(to="JFK", who="Ada")) == (
        'expected book_flight as call 1 with who {"name":"Ada"}, got "Ada"'
    )


async def test_arguments_that_were_no_object_match_nothing_but_the_name() -> None:
    assert await difference(["book_flight"], ToolCall("book_flight", "{broken")) == ""
    expected = [{"name": "book_flight", "arguments": {"to": "JFK"}}]
    assert await difference(expected, ToolCall("book_flight", "{broken")) == (
        'expected book_flight as call 1 with {"to":"JFK"}, got "{broken"'
    )


async def test_lists_match_element_by_element_and_partly_inside() -> None:
    expected = [{"name": "book_flight", "arguments": {"legs": [{"to": "JFK"}, {"to": {"any": True}}]}}]
    assert await difference(expected, book(legs=[{"to": "JFK", "n": 1}, {"to": None}])) == ""
    assert await difference(expected, book(legs=[{"to": "JFK"}, {"to": 1}, {}])) != ""
    assert await difference(expected, book(legs=[{"to": "SFO"}, {"to": 1}])) == (
        'expected book_flight as call 1 with legs[0].to "JFK", got "SFO"'
    )


async def test_a_call_with_the_wrong_arguments_is_named_when_no_other_fits() -> None:
    expected = ["search_flights", {"name": "book_flight", "arguments": {"to": "JFK"}}]
    made: list[str | ToolCall] = ["search_flights", "wait", book(to="LAX")]
    assert await difference(expected, *made, mode="subset") == (
        'expected book_flight after call 1 (search_flights), but call 3 differs: to "JFK", got "LAX"'
    )
    assert await difference(expected, *made, mode="any_order") == (
        'expected book_flight, but call 3 differs: to "JFK", got "LAX"'
    )


async def test_expected_and_actual_hold_the_arguments_where_arguments_were_asked_for() -> None:
    expected = ["search_flights", {"name": "book_flight", "arguments": {"to": "JFK"}}]
    found = await sequence(expected, "search_flights", book(to="JFK", n=1))
    assert found.expected == expected
    assert found.actual == [
        {"name": "search_flights", "arguments": {}},
        {"name": "book_flight", "arguments": {"to": "JFK", "n": 1}},
    ]


async def test_a_call_is_given_to_the_expectation_that_needs_it() -> None:
    expected = ["pay", {"name": "pay", "arguments": {"x": 5}}, "pay"]
    made = [ToolCall("pay", {"x": number}) for number in (5, 6, 7)]
    assert await difference(expected, *made, mode="any_order") == ""


async def test_thousands_of_calls_are_paired_in_time() -> None:
    started = time.process_time()
    expected = [{"name": "pay", "arguments": {"x": {"any": True}}} for _ in range(50)]
    made = [ToolCall("pay", {"x": number}) for number in range(1_000)]
    assert await difference(expected, *made, mode="any_order", allow_extra=True) == ""
    assert time.process_time() - started < 10


async def test_a_regex_that_would_never_end_leaves_the_assertion_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_regex, "TIMEOUT", 0.5)
    expected = [{"name": "book_flight", "arguments": {"legs": [{"to": {"regex": "(a+)+$"}}]}}]
    found = await sequence(expected, book(legs=[{"to": "a" * 60 + "!"}]))
    assert (found.passed, found.cause) == (None, Cause.EVALUATOR)


@pytest.mark.parametrize("mode", ["exact", "in_order", "any_order", "any_order+"])
@given(expected=wanted, made=calls)
async def test_every_mode_agrees_with_trying_all_possibilities(
    mode: str, expected: list[tuple[str, int | None]], made: list[tuple[str, int]]
) -> None:
    def meets(want: tuple[str, int | None], call: tuple[str, int]) -> bool:
        return want[0] == call[0] and want[1] in (None, call[1])

    def any_of(choices: Any) -> bool:
        return any(all(map(meets, expected, choice)) for choice in choices)

    possible = {
        "exact": len(expected) == len(made) and any_of([made]),
        "in_order": any_of(combinations(made, len(expected))),
        "any_order": len(expected) == len(made) and any_of(permutations(made)),
        "any_order+": any_of(permutations(made, len(expected))),
    }
    found = await sequence(
        [{"name": name, "arguments": {} if x is None else {"x": x}} for name, x in expected],
        *(ToolCall(name, {"x": x}) for name, x in made),
        mode=mode.rstrip("+"),
        allow_extra=mode.endswith("+"),
    )
    assert found.passed is possible[mode], found.message
    assert bool(found.message) is not found.passed


@pytest.mark.parametrize(
    "fields, place, said",
    [
        ({"expected": ["book_fligth"]}, ("expected", 0), 'The scenario has no tool "book_fligth"; did you mean "book_flight"?'),
        ({"expected": ["pay", "xyz"]}, ("expected", 1), 'The scenario has no tool "xyz".'),
        ({"mode": "exakt"}, ("mode",), 'must be one of exact, subset, in_order, any_order; did you mean "exact"?'),
        ({"expected": [], "mode": "subset"}, ("expected",), "An empty list says nothing with mode subset."),
        ({"allow_extra": True}, ("allow_extra",), "allow_extra does not go with mode exact."),
        ({"expected": [{"nam": "pay"}]}, ("expected", 0, "nam"), 'no such field; did you mean "name"?'),
        ({"expected": [5]}, ("expected", 0), "must be a mapping, not a number"),
        ({"expected": [{"name": "pay", "arguments": {"x": {"regex": "("}}}]}, ("expected", 0), 'pay: "(" is not a regular'),
    ],
)  # fmt: skip
def test_what_can_never_be_met_is_refused_before_any_call(
    fields: dict[str, Any], place: tuple[str | int, ...], said: str
) -> None:
    good = {"type": "tool_sequence", "expected": ["pay"]}
    [(path, sentence)] = findings(good | fields, tools=["book_flight", {"name": "pay"}])
    assert path == ("assertions", 0, *place)
    assert sentence.startswith(said)


def test_the_tools_of_a_custom_adapter_are_only_known_where_the_scenario_lists_them() -> None:
    assertion = {"type": "tool_sequence", "expected": ["pay"]}
    assert len(findings(assertion)) == 1
    assert findings(assertion, adapter="mine:Agent") == []
    assert len(findings(assertion, adapter="mine:Agent", tools=["buy"])) == 1
