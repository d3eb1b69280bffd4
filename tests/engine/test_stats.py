"""What a number of runs can show, checked against scipy, numpy and plain counting."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest  # type: ignore[import-untyped]

from salvo.engine.stats import Interval, pass_at_k, pass_hat_k, percentile, wilson

counts = st.integers(1, 2_000).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


@given(counts, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
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


def test_no_runs_say_nothing() -> None:
    assert wilson(0, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize("passes, runs", [(-1, 3), (4, 3), (1, 0)])
@pytest.mark.parametrize("figure", [wilson, partial(pass_at_k, k=1), partial(pass_hat_k, k=1)])
def test_impossible_counts_are_refused(figure: Callable[[int, int], object], passes: int, runs: int) -> None:
    with pytest.raises(ValueError, match="passes must lie"):
        figure(passes, runs)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, confidence)


def test_pass_at_k_and_pass_hat_k_are_what_counting_all_draws_of_k_runs_gives() -> None:
    for runs in range(8):
        for passes in range(runs + 1):
            outcomes = [True] * passes + [False] * (runs - passes)
            for k in range(1, runs + 1):
                draws = list(combinations(outcomes, k))
                assert pass_at_k(passes, runs, k) == float(Fraction(sum(map(any, draws)), len(draws)))
                assert pass_hat_k(passes, runs, k) == float(Fraction(sum(map(all, draws)), len(draws)))


def test_a_rare_pass_among_many_runs_loses_no_digits() -> None:
    assert pass_at_k(1, 1_000_000, 1) == 1e-6
    assert pass_hat_k(1, 1_000_000, 1) == 1e-6


def test_more_draws_than_runs_cannot_be_said() -> None:
    assert pass_at_k(2, 3, 4) is None
    assert pass_hat_k(2, 3, 4) is None


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("chance", [pass_at_k, pass_hat_k])
def test_k_below_one_is_refused(chance: Callable[[int, int, int], object], k: int) -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        chance(1, 2, k)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 100))
def test_a_percentile_is_numpys_linear_one(values: list[float], percent: float) -> None:
    assert percentile(values, percent) == pytest.approx(
        float(np.percentile(np.array(values), percent)), rel=1e-9, abs=1e-6
    )


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.floats(0, 100))
@example([-1.7976931348623157e308, 1.7976931348623157e308], 50.0)
@example([5e-324, 5e-324], 50.0)
@example([0.798438940577426, 0.7984389405774264], 3.0)
@example([0.4547016300456639, 0.45470163004566394], 44.0)
def test_a_percentile_never_leaves_the_range_of_the_data(values: list[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found is not None
    assert min(values) <= found <= max(values)


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_the_ends_and_the_middle_are_values_of_the_data_itself(values: list[float]) -> None:
    values = sorted(values)
    assert percentile(values, 0) == values[0]
    assert percentile(values, 100) == values[-1]
    if len(values) % 2:
        assert percentile(reversed_copy := values[::-1], 50) == values[len(values) // 2]
        assert reversed_copy == values[::-1]


def test_without_data_there_is_no_percentile() -> None:
    assert percentile([], 50) is None


@pytest.mark.parametrize("percent", [-1, 100.5, math.nan])
def test_a_percentile_beyond_0_and_100_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="percent must lie"):
        percentile([1.0], percent)
