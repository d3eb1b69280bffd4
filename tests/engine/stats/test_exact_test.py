"""The test of two sides: against scipy and the literature, and by adding up how often it errs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import (  # type: ignore[import-untyped]  # scipy ships no types
    binom,
    binomtest,
    boschloo_exact,
    fisher_exact,
)

from salvo.engine.stats.exact_test import (
    MAX_RUNS_FOR_BOSCHLOO,
    exact_p,
    fisher,
    fisher_threshold,
    mcnemar_interval,
    mcnemar_p,
)
from salvo.engine.stats.pass_rates import Tally


def tallies(most: int) -> st.SearchStrategy[Tally]:
    return st.integers(1, most).flatmap(lambda runs: st.builds(Tally, st.integers(0, runs), st.just(runs)))


def p_value(a: Tally, b: Tally) -> float:
    found = exact_p(a, b)
    assert found is not None
    return found


def test_four_of_ten_against_nine_of_ten_is_seen_here_and_not_by_fishers_test() -> None:
    table = [[4, 9], [6, 1]]
    assert p_value(Tally(4, 10), Tally(9, 10)) == pytest.approx(0.02278, abs=5e-6)
    assert fisher_exact(table).pvalue > 0.05


def test_the_vaccine_trial_of_mehta_and_senchaudhuri_has_the_published_p_value() -> None:
    # 7 of 15 against 12 of 15: one-sided 0.0341, where Fisher's test has 0.0641.
    assert p_value(Tally(7, 15), Tally(12, 15)) == pytest.approx(2 * 0.0341, abs=1e-4)


@settings(max_examples=25)
@given(tallies(25), tallies(25))
def test_the_p_value_of_few_runs_is_scipys_boschloo(a: Tally, b: Tally) -> None:
    table = [[a.passes, b.passes], [a.runs - a.passes, b.runs - b.passes]]
    side = "greater" if a.passes * b.runs > b.passes * a.runs else "less"
    expected = 1.0 if a.passes * b.runs == b.passes * a.runs else 2 * boschloo_exact(table, alternative=side).pvalue
    assert p_value(a, b) == pytest.approx(min(1.0, expected), rel=1e-6)


@settings(max_examples=50)
@given(tallies(5_000), tallies(5_000))
def test_the_p_value_of_many_runs_is_fishers(a: Tally, b: Tally) -> None:
    a = Tally(a.passes + MAX_RUNS_FOR_BOSCHLOO, a.runs + MAX_RUNS_FOR_BOSCHLOO)
    table = [[a.passes, b.passes], [a.runs - a.passes, b.runs - b.passes]]
    sides = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert p_value(a, b) == pytest.approx(min(1.0, 2 * min(sides)), rel=1e-6, abs=1e-200)


@settings(max_examples=50)
@given(tallies(40), tallies(40))
def test_it_is_never_above_twice_fishers_one_sided_p_value(a: Tally, b: Tally) -> None:
    table = [[a.passes, b.passes], [a.runs - a.passes, b.runs - b.passes]]
    fisher = min(fisher_exact(table, alternative=side).pvalue for side in ("less", "greater"))
    assert p_value(a, b) <= min(1.0, 2 * fisher) * (1 + 1e-9) or a.passes * b.runs == b.passes * a.runs


@settings(max_examples=50)
@given(tallies(40), tallies(40))
def test_the_sides_may_be_exchanged_and_passes_counted_as_failures(a: Tally, b: Tally) -> None:
    mirrored = (Tally(side.runs - side.passes, side.runs) for side in (a, b))
    assert p_value(a, b) == p_value(b, a)
    assert p_value(a, b) == pytest.approx(p_value(*mirrored), rel=1e-6)


@settings(max_examples=20)
@given(tallies(30), st.integers(1, 30))
def test_the_further_b_is_from_a_the_smaller_the_p_value(a: Tally, runs_b: int) -> None:
    above = [passes for passes in range(runs_b + 1) if passes * a.runs >= a.passes * runs_b]
    p_values = [p_value(a, Tally(passes, runs_b)) for passes in above]
    assert all(nearer >= further * (1 - 1e-9) for nearer, further in pairwise(p_values))


@pytest.mark.parametrize("runs_a, runs_b", [(5, 5), (10, 10), (7, 13), (20, 20), (3, 30)])
def test_equal_sides_are_called_different_at_most_as_often_as_it_says(runs_a: int, runs_b: int) -> None:
    p_values = np.array(
        [[p_value(Tally(a, runs_a), Tally(b, runs_b)) for b in range(runs_b + 1)] for a in range(runs_a + 1)]
    )
    for rate in np.linspace(0.005, 0.995, 199):
        chances = np.outer(
            binom.pmf(np.arange(runs_a + 1), runs_a, rate), binom.pmf(np.arange(runs_b + 1), runs_b, rate)
        )
        for alpha in (0.01, 0.05, 0.1, 0.2):
            assert chances[p_values <= alpha].sum() <= alpha


def test_a_side_without_runs_says_nothing() -> None:
    assert exact_p(Tally(0, 0), Tally(3, 5)) is None
    assert exact_p(Tally(3, 5), Tally(0, 0)) is None


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="passes must be"):
        exact_p(Tally(4, 3), Tally(1, 3))


@given(st.integers(0, 200), st.integers(0, 200))
def test_paired_runs_have_the_p_value_of_a_sign_test(only_a: int, only_b: int) -> None:
    exact = binomtest(only_b, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert mcnemar_p(only_a, only_b) == pytest.approx(exact, rel=1e-9)


def test_pairs_that_all_agree_do_not_show_a_difference_of_zero() -> None:
    assert mcnemar_interval(0, 0, 0) is None
    highest = 1 - 0.025 ** (1 / 20)
    assert mcnemar_interval(0, 0, 20) == pytest.approx((-highest, highest))


def test_the_interval_of_paired_runs_excludes_zero_where_one_side_alone_passes_often() -> None:
    interval = mcnemar_interval(8, 0, 40)
    assert interval is not None
    assert interval.low < -0.2 < interval.high < 0


@pytest.mark.parametrize("pairs", [10, 20])
@pytest.mark.parametrize("only_a, only_b", [(0.0, 0.02), (0.05, 0.05), (0.1, 0.3), (0.4, 0.4), (0.3, 0.6)])
def test_the_interval_of_paired_runs_contains_the_difference_95_times_in_100(
    pairs: int, only_a: float, only_b: float
) -> None:
    covered = 0.0
    for a in range(pairs + 1):
        for b in range(pairs + 1 - a):
            interval = mcnemar_interval(a, b, pairs)
            assert interval is not None
            if interval.low <= only_b - only_a <= interval.high:
                ways = math.comb(pairs, a) * math.comb(pairs - a, b)
                covered += ways * only_a**a * only_b**b * (1 - only_a - only_b) ** (pairs - a - b)
    assert covered >= 0.95


@settings(max_examples=20)
@given(st.integers(2, 30), st.integers(2, 30), st.sampled_from([0.005, 0.025, 0.1]))
def test_up_to_its_threshold_fishers_p_value_is_significant_here(worse: int, better: int, alpha: float) -> None:
    threshold = fisher_threshold(worse, better, alpha)
    for passes in range(worse + 1):
        for others in range(better + 1):
            if passes * better < others * worse and fisher(passes, worse, others, better) <= threshold:
                assert p_value(Tally(passes, worse), Tally(others, better)) <= 2 * alpha * (1 + 1e-6)
