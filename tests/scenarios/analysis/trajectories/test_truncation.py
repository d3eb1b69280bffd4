"""What is shown of a long run."""

from salvo.scenarios.analysis.trajectories.alignment import align
from salvo.scenarios.analysis.trajectories.trajectory import trajectory
from salvo.scenarios.analysis.trajectories.truncation import (
    BEGINNING,
    LONGEST,
    LONGEST_IN_ALL,
    TruncationBudget,
    truncate_assertions,
    truncate_side_by_side,
    truncate_trajectory,
)
from salvo.scenarios.result import ToolCall
from tests.support.runs import judged, result

HUGE = "x" * 5_000_000


def test_what_is_short_stays_as_it_is() -> None:
    whole = trajectory(result(tool_calls=[ToolCall("a", {"x": [1, None]}, {"ok": True})], final_output="done"))
    assert truncate_trajectory(whole, TruncationBudget()) == whole


def test_a_huge_value_is_cut_and_says_how_long_it_was() -> None:
    text, structure = (
        truncate_trajectory(trajectory(result(final_output=output)), TruncationBudget()).steps[-1]
        for output in (HUGE, {"text": HUGE})
    )
    assert (text.result, text.cut) == ("x" * LONGEST + "…", {"result": len(HUGE)})
    assert structure.result.startswith('{"text":"xxx')
    assert (len(structure.result), structure.cut) == (LONGEST + 1, {"result": len(HUGE) + 11})


def test_a_run_of_many_long_values_keeps_the_beginning_of_each() -> None:
    many = 2 * LONGEST_IN_ALL // LONGEST
    run = result(tool_calls=[ToolCall("a", {}, "y" * LONGEST) for _ in range(many)])
    steps = truncate_trajectory(trajectory(run), TruncationBudget()).steps
    assert sum(len(str(step.result)) for step in steps) < LONGEST_IN_ALL + many * (BEGINNING + 1)
    assert (steps[0].cut, steps[-2].cut, steps[-2].result) == ({}, {"result": LONGEST}, "y" * BEGINNING + "…")


def test_assertions_are_cut_as_well_and_what_must_be_an_object_stays_one() -> None:
    results = [judged("a", True), judged("b", False, actual=HUGE, attachments={"report": HUGE})]
    kept, cut = truncate_assertions(results, TruncationBudget())
    assert kept[0] is results[0]
    assert (len(kept[1].actual), kept[1].attachments) == (LONGEST + 1, {})
    assert cut == {"1.actual": len(HUGE), "1.attachments": len(HUGE) + 13}


def test_rows_are_compared_before_they_are_cut() -> None:
    a, b = (trajectory(result(final_output=HUGE + end)) for end in ("a", "b"))
    found = truncate_side_by_side(align(a, b))
    assert found.first_difference == 0
    assert found.rows[0].a is not None
    assert found.rows[0].a.cut == {"result": len(HUGE) + 1}
