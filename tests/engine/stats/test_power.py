"""Which differences would be seen: against scipy's distributions, for a drop and for a rise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.exact_test import exact_p
from salvo.engine.stats.pass_rates import Tally
from salvo.engine.stats.power import visible_drop, visible_rise


def chance_of_seeing(a: Tally, runs_b: int, rate_b: float, alpha: float) -> float:
    """The chance that the test finds that side, over all results of both sides."""
    rate_a = a.passes / a.runs
    detected = np.array(
        [
            [
                (exact_p(Tally(x, a.runs), Tally(y, runs_b)) or 0.0) <= alpha
                and (y * a.runs < x * runs_b) == (rate_b < rate_a)
                for y in range(runs_b + 1)
            ]
            for x in range(a.runs + 1)
        ]
    )
    chances = np.outer(
        binom.pmf(np.arange(a.runs + 1), a.runs, rate_a), binom.pmf(np.arange(runs_b + 1), runs_b, rate_b)
    )
    return float(chances[detected].sum())


@settings(max_examples=12, deadline=None)
@given(
    st.integers(2, 14).flatmap(lambda runs: st.builds(Tally, st.integers(1, runs), st.just(runs))),
    st.integers(3, 14),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_a_visible_drop_is_seen_in_eight_of_ten_cases_and_a_point_less_is_not(
    a: Tally, runs_b: int, alpha: float
) -> None:
    rate = a.passes / a.runs
    drop, rise = visible_drop(a, runs_b, alpha), visible_rise(a, runs_b, alpha)
    largest = chance_of_seeing(a, runs_b, 0.0, alpha)
    if drop is None:
        assert largest < 0.8
    else:
        assert chance_of_seeing(a, runs_b, max(0.0, rate - drop), alpha) >= 0.8 - 1e-6
        assert drop <= 0.01 or chance_of_seeing(a, runs_b, rate - drop + 0.01, alpha) < 0.8 + 0.01
    if rise is not None:
        assert chance_of_seeing(a, runs_b, min(1.0, rate + rise), alpha) >= 0.8 - 1e-6


def test_forty_runs_each_see_a_drop_from_all_passing_of_seventeen_points() -> None:
    assert (visible_drop(Tally(40, 40), 40, 0.05), visible_rise(Tally(40, 40), 40, 0.05)) == (0.17, None)
    assert (visible_drop(Tally(0, 40), 40, 0.05), visible_rise(Tally(0, 40), 40, 0.05)) == (None, 0.17)


def test_a_side_without_runs_sees_nothing_and_neither_do_two_runs() -> None:
    assert visible_drop(Tally(0, 0), 5, 0.05) is None
    assert visible_drop(Tally(3, 5), 0, 0.05) is None
    assert visible_drop(Tally(2, 2), 2, 0.05) is None


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_more_runs_see_smaller_drops_and_a_stricter_test_only_larger_ones(share: float) -> None:
    def smallest(runs: int, alpha: float) -> float:
        drop = visible_drop(Tally(round(share * runs), runs), runs, alpha)
        return math.inf if drop is None else drop

    by_runs = [smallest(runs, 0.05) for runs in (2, 10, 40, 150, 1_000, 5_000)]
    assert by_runs == sorted(by_runs, reverse=True)
    assert by_runs[-1] <= 0.03
    by_alpha = [smallest(20, alpha) for alpha in (0.2, 0.05, 0.01, 0.001)]
    assert by_alpha == sorted(by_alpha)
