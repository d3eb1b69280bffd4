"""Where failing and passing runs diverge, and which runs are most alike."""

from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.analysis.divergence import Step, ToolPath, find_divergence, nearest, tool_path
from salvo.scenarios.result import Cause, Outcome, ToolCall, TraceEvent
from tests.support.runs import result


def ways(passing: list[str], failing: list[str]) -> list[ToolPath]:
    """Each a line of steps, such as "find refund end"."""
    return [
        ToolPath(f"{word}-{number}", word == "passing", tuple(map(Step, line.split())))
        for word, lines in (("passing", passing), ("failing", failing))
        for number, line in enumerate(lines)
    ]


def test_the_first_step_that_failing_runs_take_differently_is_found() -> None:
    found = find_divergence(ways(["find pay end"] * 5, ["find cancel end"] * 3 + ["find pay end"]))
    assert found is not None
    assert (found.step, found.passing.did, found.failing.did) == (2, "pay", "cancel")
    assert (found.passing.count, found.passing.of, found.failing.count, found.failing.of) == (5, 5, 3, 4)
    assert (found.passing.run_id, found.failing.run_id) == ("passing-0", "failing-0")


def test_a_step_that_both_kinds_take_as_they_like_is_not_where_they_part() -> None:
    found = find_divergence(ways(["a x end", "b x end"] * 3, ["a y end", "b y end"] * 3))
    assert found is not None
    assert (found.step, found.failing.did) == (2, "y")


def test_a_run_that_stops_early_parts_where_it_stops() -> None:
    found = find_divergence(ways(["find pay end"] * 3, ["find end"] * 3))
    assert found is not None
    assert (found.step, found.failing.did) == (2, "end")


def test_without_both_kinds_or_without_a_difference_there_is_none() -> None:
    assert find_divergence(ways(["a end"], [])) is None
    assert find_divergence(ways([], ["a end"])) is None
    assert find_divergence(ways(["a end"] * 3, ["a end"] * 3)) is None


def test_the_same_tools_part_by_what_came_of_them_then_by_arguments_then_by_the_answer() -> None:
    def run(number: int, passed: bool, call: ToolCall, answer: str = "done") -> ToolPath:
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        return tool_path(result(number, outcome, tool_calls=[call], final_output=answer))

    good = run(1, True, ToolCall("pay", {"id": 7}, "ok"))
    error = find_divergence([good, run(2, False, ToolCall("pay", {"id": 7}, error="no money"))])
    arguments = find_divergence([good, run(2, False, ToolCall("pay", {"id": 8}, "ok"))])
    answer = find_divergence([good, run(2, False, ToolCall("pay", {"id": 7}, "ok"), "not done")])
    assert [each and (each.step, each.failing.did) for each in (error, arguments, answer)] == [
        (1, 'call pay, which returns an error: "no money"'),
        (1, 'call pay {"id":8}'),
        (2, 'answer "not done"'),
    ]


def test_an_end_by_the_turn_limit_is_a_step_and_a_trace_stands_in_for_tool_calls() -> None:
    way = tool_path(result(1, Outcome.FAILED, cause=Cause.TURN_LIMIT, trace=[TraceEvent("search", {"name": "web"})]))
    assert [step.what for step in way.steps] == ["search web", "reach the turn limit"]


LINES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join), max_size=6)


@given(LINES, LINES)
def test_what_is_told_is_true_of_the_runs_it_names(passing: list[str], failing: list[str]) -> None:
    every = ways(passing, failing)
    found = find_divergence(every)
    if found is None:
        return
    by_id = {way.run_id: way for way in every}
    for branch, lines in ((found.passing, passing), (found.failing, failing)):
        assert by_id[branch.run_id].steps[found.step - 1].what == branch.did
        assert 1 <= branch.count <= branch.of == len(lines)
    assert found.passing.did != found.failing.did


def path(name: str, *steps: Step) -> ToolPath:
    return ToolPath(name, True, steps)


def test_the_nearest_is_the_one_that_goes_along_the_longest_by_tools_then_by_arguments() -> None:
    failing = path("failing", Step("find", "", "1"), Step("pay", "no money"), Step("end"))
    other, same_tools, same_arguments = (
        path("other", Step("find", "", "1"), Step("end")),
        path("same tools", Step("find", "", "2"), Step("pay"), Step("end")),
        path("same arguments", Step("find", "", "1"), Step("pay"), Step("end")),
    )
    assert nearest(failing, [other, same_tools, same_arguments]) is same_arguments
    assert nearest(failing, [other, same_tools]) is same_tools
    assert nearest(failing, []) is None
