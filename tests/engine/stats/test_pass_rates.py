"""What a number of runs can show about a pass rate, checked against scipy and plain counting."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.pass_rates import Interval, clopper_pearson, pass_hat_k, wilson

counts = st.integers(1, 2_000).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


@given(counts, confidences)
def test_the_wilson_interval_is_scipys(count: tuple[int, int], confidence: float) -> None:
    passes, runs = count
    referee = binomtest(passes, runs).proportion_ci(confidence, method="wilson")
    assert wilson(passes, runs, confidence) == pytest.approx((referee.low, referee.high), abs=1e-12)


@pytest.mark.parametrize("runs, percent", [(3, 44), (5, 57), (10, 72), (20, 84)])
def test_all_of_a_few_runs_show_as_little_as_the_published_values_say(runs: int, percent: int) -> None:
    low, high = wilson(runs, runs)
    assert math.floor(100 * low + 0.5) == percent
    assert high == 1.0


@given(counts)
def test_the_wilson_interval_holds_the_rate_and_stays_between_0_and_1(count: tuple[int, int]) -> None:
    passes, runs = count
    low, high = wilson(passes, runs)
    assert 0.0 <= low <= passes / runs <= high <= 1.0
    assert (low == 0.0) == (passes == 0)
    assert (high == 1.0) == (passes == runs)


@given(counts, confidences)
def test_the_exact_interval_is_scipys(count: tuple[int, int], confidence: float) -> None:
    passes, runs = count
    referee = binomtest(passes, runs).proportion_ci(confidence, method="exact")
    assert clopper_pearson(passes, runs, confidence) == pytest.approx((referee.low, referee.high), abs=1e-9)


def test_the_exact_interval_of_many_runs_is_scipys() -> None:
    referee = binomtest(199_900, 200_000).proportion_ci(0.99, method="exact")
    assert clopper_pearson(199_900, 200_000, 0.99) == pytest.approx((referee.low, referee.high), abs=1e-9)


@pytest.mark.parametrize(
    "passes, runs, low, high",
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_the_exact_interval_is_the_one_in_newcombe_1998(passes: int, runs: int, low: float, high: float) -> None:
    assert clopper_pearson(passes, runs) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("runs", [1, 2, 5, 10, 30])
def test_the_exact_interval_holds_every_true_rate_at_least_as_often_as_it_says(runs: int, confidence: float) -> None:
    intervals = [clopper_pearson(passes, runs, confidence) for passes in range(runs + 1)]
    # Coverage jumps at the bounds themselves, so the grid looks just beside each of them as well.
    bounds = [bound for interval in intervals for bound in interval]
    rates = [*np.linspace(0, 1, 101), *(b - 1e-9 for b in bounds if b > 0), *(b + 1e-9 for b in bounds if b < 1)]
    for rate in rates:
        held = [interval.low <= rate <= interval.high for interval in intervals]
        assert binom.pmf(np.arange(runs + 1), runs, rate)[held].sum() >= confidence - 1e-12


@given(counts, confidences)
def test_one_more_pass_raises_both_exact_bounds_and_one_more_failure_lowers_them(
    count: tuple[int, int], confidence: float
) -> None:
    passes, runs = count
    low, high = clopper_pearson(passes, runs, confidence)
    after_pass, after_fail = (clopper_pearson(passes + more, runs + 1, confidence) for more in (1, 0))
    assert after_fail.low <= low <= after_pass.low
    assert after_fail.high <= high <= after_pass.high


@given(counts, confidences)
def test_passes_and_failures_mirror_each_other(count: tuple[int, int], confidence: float) -> None:
    passes, runs = count
    low, high = clopper_pearson(passes, runs, confidence)
    assert clopper_pearson(runs - passes, runs, confidence) == pytest.approx((1 - high, 1 - low), abs=1e-15)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_no_runs_say_nothing(interval: Callable[[int, int], Interval]) -> None:
    assert interval(0, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize("passes, runs", [(-1, 3), (4, 3), (1, 0)])
@pytest.mark.parametrize("figure", [wilson, clopper_pearson, partial(pass_hat_k, k=1)])
def test_impossible_counts_are_refused(figure: Callable[[int, int], object], passes: int, runs: int) -> None:
    with pytest.raises(ValueError, match="passes must be"):
        figure(passes, runs)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan])
@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_a_confidence_that_is_no_probability_is_refused(
    interval: Callable[[int, int, float], Interval], confidence: float
) -> None:
    with pytest.raises(ValueError, match="confidence"):
        interval(1, 2, confidence)


def test_pass_hat_k_is_what_counting_all_draws_of_k_runs_gives() -> None:
    for runs in range(8):
        for passes in range(runs + 1):
            outcomes = [True] * passes + [False] * (runs - passes)
            for k in range(1, runs + 1):
                draws = list(combinations(outcomes, k))
                assert pass_hat_k(passes, runs, k) == float(Fraction(sum(map(all, draws)), len(draws)))


def test_a_rare_pass_among_many_runs_loses_no_digits() -> None:
    assert pass_hat_k(1, 1_000_000, 1) == 1e-6


def test_more_draws_than_runs_cannot_be_said() -> None:
    assert pass_hat_k(2, 3, 4) is None


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        pass_hat_k(1, 2, k)
