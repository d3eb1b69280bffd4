"""Grids: which variant is best, which cannot be told from it, and the mean with errors clustered by case."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.multiple_testing import blocked_test
from salvo.engine.stats.pass_rates import Tally
from salvo.scenarios.analysis.grid import Grid, Standing, build_grids
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.report.grid import notes
from salvo.scenarios.result import Outcome
from salvo.scenarios.store.index import index_entry
from tests.support.runs import batch, result


def cell(case: str, variant: str, passed: int, runs: int, errors: int = 0) -> BatchSummary:
    batch_id = f"01{case}{variant}"
    made = batch(
        batch_id,
        runs + errors,
        scenario_id=f"s[{case}-{variant}]",
        suite="s",
        parameters={"case": case, "model": variant},
        min_pass_rate=0.5,
    )
    outcomes = [Outcome.PASSED] * passed + [Outcome.FAILED] * (runs - passed) + [Outcome.ERROR] * errors
    runs_made = [result(number, outcome, batch_id) for number, outcome in enumerate(outcomes, start=1)]
    return summarise(made, [index_entry(run) for run in runs_made])


def grid(*cells: BatchSummary) -> Grid:
    [only] = build_grids(cells)
    return only


def test_a_variant_is_compared_with_the_best_case_by_case_and_corrected_for_all_pairs() -> None:
    cells = [cell(case, "a", 10, 10) for case in "xy"]
    cells += [cell("x", "b", 9, 10), cell("y", "b", 10, 10)]
    cells += [cell("x", "c", 4, 10), cell("y", "c", 5, 10)]
    made = grid(*cells)
    assert [(variant.name, variant.standing) for variant in made.variants] == [
        ("a", Standing.BEST),
        ("b", Standing.NOT_TOLD_APART),
        ("c", Standing.WORSE),
    ]
    test = blocked_test([(Tally(10, 10), Tally(4, 10)), (Tally(10, 10), Tally(5, 10))])
    assert test is not None
    assert made.pairs == 3
    assert made.variants[2].p_value == pytest.approx(3 * test.p_value)
    assert made.variants[2].difference == pytest.approx(-0.55)


def test_the_mean_and_its_error_are_over_cases_not_over_runs() -> None:
    made = grid(cell("x", "a", 10, 10), cell("y", "a", 0, 100), cell("z", "a", 2, 4))
    assert made.pass_rate == pytest.approx(0.5)
    assert made.standard_error == pytest.approx(math.sqrt(0.25 / 3))


def test_cells_come_in_the_order_of_their_verdicts() -> None:
    made = grid(cell("x", "a", 3, 3), cell("y", "a", 0, 3), cell("z", "a", 0, 0, errors=2), cell("w", "a", 1, 3))
    assert [item.case for item in made.cells] == ["y", "w", "z", "x"]
    assert made.verdicts == {"failed": 2, "error": 1, "passed": 1}


def test_errors_are_never_failures_and_a_variant_without_runs_is_not_compared() -> None:
    made = grid(
        cell("x", "a", 3, 3), cell("x", "b", 0, 0, errors=3), cell("y", "a", 3, 3), cell("y", "b", 0, 0, errors=3)
    )
    [only, other] = made.variants
    # What was compared with nothing is not called best.
    assert (only.standing, other.standing, other.pass_rate) == (Standing.NOT_COMPARED, Standing.NOT_COMPARED, None)
    assert made.pass_rate == 1.0


def test_the_best_is_chosen_on_the_cases_that_both_have() -> None:
    """`lucky` has runs in the easy case only: its mean is the highest, and it is not the best."""
    cells = [cell("easy", "lucky", 9, 10), cell("hard", "lucky", 0, 0, errors=10)]
    cells += [cell("easy", "good", 10, 10), cell("hard", "good", 5, 10)]
    cells += [cell("easy", "poor", 2, 10), cell("hard", "poor", 1, 10)]
    [good, lucky, poor] = grid(*cells).variants
    assert (good.name, good.standing, good.pass_rate) == ("good", Standing.BEST, 0.75)
    assert (lucky.name, lucky.standing, lucky.compared_cases) == ("lucky", Standing.NOT_TOLD_APART, 1)
    assert lucky.difference == pytest.approx(-0.1)
    assert (poor.name, poor.standing, poor.compared_cases) == ("poor", Standing.WORSE, 2)
    assert poor.difference == pytest.approx(-0.6)


def test_variants_without_a_common_case_are_not_compared_and_none_is_best() -> None:
    cells = [cell("x", "a", 10, 10), cell("y", "a", 0, 0, errors=10), cell("x", "b", 0, 0, errors=10)]
    made = grid(*cells, cell("y", "b", 1, 10))
    assert {variant.standing for variant in made.variants} == {Standing.NOT_COMPARED}
    assert "No variant is called best" in "\n".join(notes(made))


@given(st.lists(st.lists(st.none() | st.integers(0, 4), min_size=4, max_size=4), min_size=2, max_size=4))
def test_the_best_is_behind_no_other_variant_on_the_cases_that_both_have(passed: list[list[int | None]]) -> None:
    cells = [
        cell(case, f"v{number}", count or 0, 4 if count is not None else 0, errors=4 if count is None else 0)
        for number, row in enumerate(passed)
        for case, count in zip("wxyz", row, strict=True)
    ]
    made = grid(*cells)
    best = [variant for variant in made.variants if variant.standing is Standing.BEST]
    assert len(best) <= 1
    assert best == made.variants[: len(best)]
    for variant in made.variants:
        assert variant.difference is None or variant.difference <= 1e-9
    if best and len([row for row in passed if any(count is not None for count in row)]) == len(passed):
        # It shares a case with every other variant that has runs.
        assert all(variant.compared_cases for variant in made.variants)
    if all(count is not None for row in passed for count in row):
        assert best[0].pass_rate == max(variant.pass_rate or 0.0 for variant in made.variants)


def test_without_any_completed_run_nothing_is_best() -> None:
    made = grid(cell("x", "a", 0, 0, errors=1), cell("x", "b", 0, 0, errors=1))
    assert {variant.standing for variant in made.variants} == {Standing.NOT_COMPARED}
    assert made.pass_rate is None


def test_one_case_has_no_standard_error() -> None:
    made = grid(cell("x", "a", 3, 4), cell("x", "b", 2, 4))
    assert made.standard_error is None
    assert made.variants[0].interval is None


def test_a_single_cell_and_scenarios_without_cases_make_no_grid() -> None:
    plain = summarise(batch("01plain"), [])
    assert build_grids([plain, cell("x", "a", 1, 1)]) == []


@pytest.mark.referee
def test_of_equal_variants_hardly_ever_one_is_called_worse() -> None:
    """Choosing the best by looking would otherwise find a worse one far too often."""
    chance = random.Random(7)
    found = 0
    for _ in range(200):
        cells = [
            cell(case, variant, sum(chance.random() < 0.6 for _ in range(8)), 8)
            for case in "wxyz"
            for variant in "abcdef"
        ]
        found += any(variant.standing is Standing.WORSE for variant in grid(*cells).variants)
    assert found <= 200 * 0.05
