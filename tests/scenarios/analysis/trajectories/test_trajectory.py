"""A run as steps, and the step that each assertion concerns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.scenarios.analysis.trajectories.trajectory import Trajectory, trajectory
from salvo.scenarios.result import AgentRunResult, Cause, Outcome, ToolCall, TraceEvent
from tests.support.runs import judged, result

SEARCH = ToolCall("search", {"to": "JFK"}, [{"id": "F1"}], seconds=0.1)
BOOK = ToolCall("book", {"id": "F9"}, error="There is no flight F9.", seconds=0.2)
CALLS = [SEARCH, BOOK]


def model(text: str = "", *tools: str, **more: Any) -> TraceEvent:
    data = {"text": text, "stop": "end", **({"tools": list(tools)} if tools else {}), **more}
    return TraceEvent("model", data, 1.5)


def told(call: ToolCall) -> TraceEvent:
    answer = {"error": call.error} if call.error is not None else {"result": call.result}
    return TraceEvent("tool", {"name": call.name, "arguments": call.arguments, **answer}, call.seconds)


def titles(of: Trajectory) -> list[str]:
    return [f"{step.number} {step.kind}: {step.title}" for step in of.steps]


def test_a_run_is_what_was_asked_then_its_trace_with_its_calls_then_its_end() -> None:
    run = result(
        tool_calls=CALLS,
        trace=[model("Let me see.", "search", "book", tokens=120), told(SEARCH), told(BOOK), model("Sorry.")],
        final_output="Sorry.",
    )
    found = trajectory(run, {"system_prompt": "Be kind.", "user_message": "Book it."})
    assert titles(found) == snapshot(
        [
            "1 system: System prompt",
            "2 message: User message",
            "3 model: The model asks for search, book",
            "4 tool: search",
            "5 tool: book",
            "6 model: The model answers",
            "7 end: Final output",
        ]
    )
    asked, search, book = found.steps[2], found.steps[3], found.steps[4]
    assert (asked.text, asked.tokens, asked.took) == ("Let me see.", 120, 1.5)
    assert (search.arguments, search.result, search.error, search.took, search.call) == (
        {"to": "JFK"},
        [{"id": "F1"}],
        None,
        0.1,
        0,
    )
    assert (book.error, book.call) == ("There is no flight F9.", 1)
    assert found.steps[-1].result == "Sorry."


def test_calls_that_the_trace_does_not_tell_of_keep_their_order() -> None:
    untraced = ToolCall("check", {})
    run = result(tool_calls=[untraced, SEARCH, BOOK], trace=[TraceEvent("plan", {"steps": 3}), told(SEARCH)])
    assert titles(trajectory(run)) == [
        "1 event: plan",
        "2 tool: check",
        "3 tool: search",
        "4 tool: book",
        "5 end: Final output",
    ]


def test_a_run_without_a_trace_is_its_calls_and_times_that_nobody_measured_are_not_known() -> None:
    found = trajectory(result(tool_calls=[ToolCall("search", {})]))
    assert titles(found) == ["1 tool: search", "2 end: Final output"]
    assert (found.steps[0].took, found.steps[0].tokens, found.steps[1].took) == (None, None, None)


@pytest.mark.parametrize(
    "cause, title",
    [(Cause.TURN_LIMIT, "The turn limit is reached"), (Cause.EXIT, "The program ends with an error")],
)
def test_the_end_says_how_it_came(cause: Cause, title: str) -> None:
    end = trajectory(result(1, Outcome.FAILED, cause=cause, error="It took 20 turns.")).steps[-1]
    assert (end.title, end.error) == (title, "It took 20 turns.")


def where(run: AgentRunResult, *written: dict[str, Any]) -> str:
    """The kind of step that the run's one assertion concerns, with its title."""
    found = trajectory(run, {"assertions": list(written)})
    places = [f"{step.kind} {step.title}" for step in found.steps for _ in step.assertions]
    assert len(places) + len(found.overall) == len(run.eval_results)
    return places[0] if places else "overall"


@pytest.mark.parametrize(
    "path, place",
    [
        ("final_output.confirmation_id", "end Final output"),
        ("length(final_text)", "end Final output"),
        ("tool_calls[0].arguments.to", "tool search"),
        ("tool_calls[-1].error", "tool book"),
        ("tool_calls[?name=='book'].arguments.id | [0]", "tool book"),
        ("tool_calls[?error].error", "tool book"),
        ("trace[0].data.text", "model The model answers"),
        ("tool_calls[?seconds > `0`].name", "overall"),
        ("tool_calls[7].name", "overall"),
        ("tool_calls[*].name", "overall"),
        ("tool_calls[0:1].name", "overall"),
        ("length(tool_calls)", "overall"),
        ("[tool_calls[0].name, final_output]", "overall"),
        ("metrics.tokens.input", "overall"),
        ("tool_calls[?length(seconds) > `1`]", "overall"),
        ("((((", "overall"),
        ("(" * 5000, "overall"),
    ],
)
def test_a_path_concerns_what_it_looks_at_and_nothing_is_guessed(path: str, place: str) -> None:
    run = result(tool_calls=CALLS, trace=[model("Sorry.")], eval_results=[judged("x", False)])
    assert where(run, {"type": "jmespath", "path": path}) == place


@pytest.mark.parametrize(
    "fields, place",
    [
        ({"expected": ["search", "pay"]}, "tool book"),
        ({"expected": ["search"]}, "tool book"),
        ({"expected": [{"name": "search", "arguments": {"to": "LAX"}}, "book"]}, "tool search"),
        ({"expected": ["search", "book", "confirm"]}, "end Final output"),
        ({"expected": ["book", "search"], "mode": "subset"}, "end Final output"),
        ({"expected": ["search"], "mode": "any_order"}, "tool book"),
        ({"expected": 7}, "overall"),
        ({}, "overall"),
    ],
)
def test_a_sequence_concerns_the_first_call_that_departs_from_it_or_the_end(fields: dict[str, Any], place: str) -> None:
    run = result(tool_calls=CALLS, eval_results=[judged("calls", False, "tool_sequence")])
    assert where(run, {"type": "tool_sequence", **fields}) == place


@pytest.mark.parametrize(
    "kind, place",
    [
        ("llm_judge", "end Final output"),
        ("playbook", "end Final output"),
        ("custom", "end Final output"),
        ("cost_limit", "overall"),
        ("latency_limit", "overall"),
        ("somebody_elses", "overall"),
    ],
)
def test_judges_concern_the_end_and_limits_the_whole_run(kind: str, place: str) -> None:
    assert where(result(eval_results=[judged("x", False, kind)]), {"type": kind}) == place


def test_assertions_that_are_not_those_that_were_judged_say_nothing() -> None:
    run = result(tool_calls=CALLS, eval_results=[judged("x", False), judged("judge", True, "llm_judge")])
    found = trajectory(run, {"assertions": [{"type": "jmespath", "path": "tool_calls[0]"}]})
    assert (found.overall, found.steps[-1].assertions) == ([0], [1])
    assert trajectory(run, {"assertions": "none"}).overall == [0]
    assert trajectory(run).overall == [0]


values = st.sampled_from([None, True, 1, 1.0, "text", "\ud800", [], {}, {"x": [None]}, ["a", 7]])
calls = st.lists(st.builds(ToolCall, st.sampled_from(["a", "b"]), values), max_size=5)
data = st.dictionaries(st.sampled_from(["name", "arguments", "text", "tools", "tokens", "error"]), values, max_size=4)
events = st.lists(st.builds(TraceEvent, st.sampled_from(["model", "tool", "x"]), data), max_size=4)


@given(calls, events)
def test_every_call_is_there_once_and_every_assertion_somewhere_once(
    made: list[ToolCall], trace: list[TraceEvent]
) -> None:
    run = result(
        tool_calls=made,
        trace=[*trace, *map(told, made[::2])],
        eval_results=[judged("a", False, "tool_sequence"), judged("b", True), judged("c", None, "custom")],
    )
    found = trajectory(
        run,
        {
            "assertions": [
                {"type": "tool_sequence", "expected": ["a"]},
                {"type": "jmespath", "path": "tool_calls[0]"},
                {"type": "custom"},
            ]
        },
    )
    assert sorted(step.call for step in found.steps if step.call is not None) == list(range(len(made)))
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
    assert found.steps[-1].kind == "end"
    assert sorted([*found.overall, *(of for step in found.steps for of in step.assertions)]) == [0, 1, 2]
