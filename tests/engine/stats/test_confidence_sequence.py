"""The confidence sequence: valid after every run at once, and what that costs and saves."""

import math
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad  # type: ignore[import-untyped]  # scipy ships no types
from scipy.stats import binom  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.pass_rates import Interval, clopper_pearson, confidence_sequence

MAX_RUNS = 100
counts = st.integers(1, 500).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


@pytest.mark.parametrize("passes, runs", [(1, 1), (3, 10), (10, 10), (45, 50), (2, 80)])
def test_at_its_lower_bound_the_averaged_likelihood_is_two_over_alpha_times_that_of_the_bound(
    passes: int, runs: int
) -> None:
    low = confidence_sequence(passes, runs, 0.9).low
    # In the angle asin(sqrt(rate)), Jeffreys' prior is flat: the average is a plain mean over the angles above.
    start = math.asin(math.sqrt(low))
    area, _ = quad(lambda angle: binom.pmf(passes, runs, math.sin(angle) ** 2), start, math.pi / 2, epsabs=1e-13)
    average = area / (math.pi / 2 - start)
    assert average / binom.pmf(passes, runs, low) == pytest.approx(2 / 0.1, rel=1e-6)


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_it_holds_the_rate_seen_and_is_wider_than_the_interval_of_a_fixed_number(
    count: tuple[int, int], confidence: float
) -> None:
    passes, runs = count
    low, high = confidence_sequence(passes, runs, confidence)
    fixed = clopper_pearson(passes, runs, confidence)
    assert 0.0 <= low <= fixed.low <= passes / runs <= fixed.high <= high <= 1.0


@given(counts)
def test_one_more_pass_raises_both_bounds_and_failures_mirror_passes(count: tuple[int, int]) -> None:
    passes, runs = count
    low, high = confidence_sequence(passes, runs)
    assert confidence_sequence(runs - passes, runs) == pytest.approx((1 - high, 1 - low), abs=1e-15)
    after = confidence_sequence(passes + 1, runs + 1)
    assert low < after.low
    assert high <= after.high


def test_no_runs_say_nothing() -> None:
    assert confidence_sequence(0, 0) == Interval(0.0, 1.0)


@pytest.mark.parametrize("rate, confidence", [(0.5, 0.95), (0.9, 0.95), (0.97, 0.95), (0.8, 0.8)])
def test_the_chance_of_ever_missing_the_true_rate_is_at_most_alpha(rate: float, confidence: float) -> None:
    """Not simulated but added up, over all orders of passes and failures: as each look removes those that missed."""
    inside = np.array([1.0])  # the chance of each number of passes, among sequences that never missed so far
    for runs in range(1, MAX_RUNS + 1):
        inside = np.append(inside * (1 - rate), 0.0) + np.append(0.0, inside * rate)
        fewest, most = _passes_that_hold(rate, runs, confidence)
        inside[:fewest] = 0.0
        inside[most + 1 :] = 0.0
    missed = 1 - inside.sum()
    assert 0.0 < missed <= 1 - confidence


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_a_simulation_that_looks_after_every_run_errs_at_most_as_often_as_it_says(rate: float) -> None:
    """The bar is the true rate itself, where errors are likeliest. Looking as often at the fixed interval errs more."""
    passes = (np.random.default_rng(31).random((4_000, MAX_RUNS)) < rate).cumsum(axis=1)
    noise = 3 * math.sqrt(0.05 * 0.95 / len(passes))
    assert _ever_outside(passes, rate, sequence=True) <= 0.05 + noise
    assert _ever_outside(passes, rate, sequence=False) > 0.1


@cache
def _passes_that_hold(rate: float, runs: int, confidence: float, sequence: bool = True) -> tuple[int, int]:
    """The fewest and the most passes whose interval holds the rate; found by walking on from one run fewer."""
    bounds = confidence_sequence if sequence else clopper_pearson
    fewest, most = _passes_that_hold(rate, runs - 1, confidence, sequence) if runs > 1 else (0, 0)
    while bounds(fewest, runs, confidence).high < rate:
        fewest += 1
    most = most + 1
    while bounds(most, runs, confidence).low > rate:
        most -= 1
    return fewest, most


def _ever_outside(passes: npt.NDArray[np.int_], rate: float, sequence: bool) -> float:
    held = np.array([_passes_that_hold(rate, runs, 0.95, sequence) for runs in range(1, MAX_RUNS + 1)])
    return float(((passes < held[:, 0]) | (passes > held[:, 1])).any(axis=1).mean())
