"""The sentence that stands before every number of a comparison."""

import pytest
from inline_snapshot import snapshot

from salvo.scenarios.analysis.batch_stats import BatchStats
from salvo.scenarios.analysis.compare import ComparedSides, compare
from salvo.scenarios.report.headline import format_p, headline


def said(*counts: tuple[int, int, int, int]) -> str:
    """Of each scenario: A's passes and runs, then B's."""

    def side(passed: int, completed: int, number: int) -> BatchStats:
        name = f"s{number}"
        return BatchStats(name, "b", "", "openai", "m", passed, completed, 0, 0, [], None, None, None, {}, {})

    return headline(
        compare([ComparedSides(side(a, of_a, i), side(b, of_b, i)) for i, (a, of_a, b, of_b) in enumerate(counts)])
    )


def test_one_scenario_worse_or_better() -> None:
    assert said((9, 10, 4, 10)) == snapshot("B is worse on s0 (40% against 90%, p = 0.02).")
    assert said((4, 10, 9, 10)) == snapshot("B is better on s0 (90% against 40%, p = 0.02).")


def test_better_on_one_worse_on_another_and_no_difference_on_the_rest() -> None:
    assert said((20, 20, 2, 20), (2, 20, 20, 20), (19, 20, 18, 20)) == snapshot(
        "B is worse on s0 (10% against 100%, p < 0.001); B is better on s1 (100% against 10%, p < 0.001); no difference was detected on the other one; with 20 runs each, a drop of 35 points would be seen in 8 of 10 cases, and no rise would. Across all scenarios, no difference was detected (p = 1.00; mean over scenarios −2, 95% −100 to +100)."
    )


def test_more_than_three_are_not_all_named() -> None:
    assert said(*[(20, 20, number, 20) for number in range(6)]) == snapshot(
        "B is worse on s0 (0% against 100%, p < 0.001), s1 (5% against 100%, p < 0.001), s2 (10% against 100%, p < 0.001) and three more. Across all scenarios, B is worse: it passes 88 points less often (p < 0.001; mean over scenarios −88, 95% −98 to −77)."
    )


def test_a_little_worse_everywhere_is_seen_over_all_alone() -> None:
    assert said(*[(19, 20, 16, 20)] * 6) == snapshot(
        "No difference was detected on any of the six scenarios; with 20 runs each, a drop of 48 points would be seen in 8 of 10 cases, and no rise would. Across all scenarios, B is worse: it passes 15 points less often (p < 0.001; mean over scenarios −15, 95% −24 to −5)."
    )


def test_where_no_difference_could_have_been_seen_it_says_so() -> None:
    assert said((1, 1, 0, 1)) == snapshot(
        "No difference was detected on s0; with 1 run each, none would be seen in 8 of 10 cases."
    )
    assert said((10, 10, 9, 10), (1, 1, 1, 1)) == snapshot(
        "No difference was detected on any of the two scenarios; with 1 to 10 runs each, a drop of 59 points (none on one of them) would be seen in 8 of 10 cases, and no rise would. Across all scenarios, no difference was detected (p = 1.00; mean over scenarios −5, 95% −69 to +59)."
    )


def test_a_side_without_runs_is_named() -> None:
    assert said((0, 0, 0, 0)) == snapshot("s0 could not be compared: A and B have no completed run.")
    assert said((5, 5, 5, 5), (3, 3, 0, 0)) == snapshot(
        "No difference was detected on s0; with 5 runs each, a drop of 84 points would be seen in 8 of 10 cases, and no rise would. s1 could not be compared: B has no completed run."
    )


@pytest.mark.parametrize("p, text", [(0.0, "p < 0.001"), (0.0042, "p = 0.004"), (0.02, "p = 0.02"), (1.0, "p = 1.00")])
def test_a_p_value_is_never_shown_as_nought(p: float, text: str) -> None:
    assert format_p(p, 0.05) == text
