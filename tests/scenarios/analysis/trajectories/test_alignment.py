"""Two runs side by side."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.analysis.trajectories.alignment import MOST_PAIRS, SideBySide, align
from salvo.scenarios.analysis.trajectories.trajectory import trajectory
from salvo.scenarios.result import ToolCall, TraceEvent
from tests.support.runs import result


def run(names: str, **more: Any) -> Any:
    return trajectory(result(tool_calls=[ToolCall(name, {}) for name in names], **more))


def rows(of: SideBySide) -> list[str]:
    return [
        f"{row.a.title if row.a else '-'}{'=' if row.same else '|'}{row.b.title if row.b else '-'}" for row in of.rows
    ]


END = "Final output=Final output"


def test_the_same_way_has_no_difference_whatever_its_times_and_ids() -> None:
    one = result(
        1,
        tool_calls=[ToolCall("a", {"x": 1}, "ok", seconds=1.0)],
        trace=[TraceEvent("model", {"text": "Hi", "tokens": 5}, 1.0)],
    )
    other = result(
        2,
        tool_calls=[ToolCall("a", {"x": 1}, "ok", seconds=2.0)],
        trace=[TraceEvent("model", {"text": "Hi", "tokens": 6}, 2.0)],
    )
    found = align(trajectory(one), trajectory(other))
    assert found.first_difference is None
    assert [row.same for row in found.rows] == [True, True, True]


def test_a_step_that_one_of_them_left_out_stands_alone_and_the_rest_goes_together_again() -> None:
    found = align(run("abc"), run("ac"))
    assert rows(found) == ["a=a", "b|-", "c=c", END]
    assert found.first_difference == 1


def test_the_steps_that_both_begin_with_go_together_even_if_more_would_match_later() -> None:
    assert rows(align(run("pqr"), run("prpqr")))[0] == "p=p"


def test_what_stands_between_is_put_side_by_side() -> None:
    assert rows(align(run("axd"), run("ayzd"))) == ["a=a", "x|y", "-|z", "d=d", END]


def test_the_same_step_with_another_content_says_what_of_it_differs() -> None:
    one = trajectory(result(tool_calls=[ToolCall("a", {"x": 1}, "ok")], final_output="yes"))
    other = trajectory(result(tool_calls=[ToolCall("a", {"x": 2}, error="no")], final_output="no"))
    found = align(one, other)
    assert [(row.same, row.differs) for row in found.rows] == [
        (False, ["arguments", "result", "error"]),
        (False, ["result"]),
    ]


def test_one_and_true_and_a_missing_value_are_not_the_same() -> None:
    answers = [trajectory(result(final_output=value)) for value in (1, True, 1.0, None)]
    assert all(align(a, b).first_difference == (None if a is b else 0) for a in answers for b in answers)


def test_thousands_of_steps_are_paired_as_they_come() -> None:
    many = int(MOST_PAIRS**0.5) + 10
    found = align(run("a" + "b" * many), run("c" + "d" * many))
    assert len(found.rows) == many + 2
    assert found.first_difference == 0


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_every_step_of_both_is_there_once_and_in_order(a: str, b: str) -> None:
    one, other = run(a), run(b)
    found = align(one, other)
    assert [row.a for row in found.rows if row.a] == one.steps
    assert [row.b for row in found.rows if row.b] == other.steps
    assert (found.first_difference is None) == (a == b)
    assert len(found.rows) <= len(one.steps) + len(other.steps)
