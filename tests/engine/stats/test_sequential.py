"""Early stopping: what settles a verdict, how often it errs, and what can be said about the pass rate afterwards."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.gating import fixed_runs_needed
from salvo.engine.stats.pass_rates import clopper_pearson
from salvo.engine.stats.sequential import (
    MAX_CALIBRATED_RUNS,
    MAX_CORRECTED_RUNS,
    SequentialPlan,
    calibrated_tail,
)

PLAN = SequentialPlan(0.9, 0.95, 200)
ONE_SIDED = SequentialPlan(0.9, 0.95, 200, one_sided=True)


def faultless(plan: SequentialPlan) -> int:
    """The number of runs after which an agent without a failure passes."""
    return next(runs for runs in range(1, 200) if plan.verdict(runs, runs) == "pass")


def test_thresholds_for_the_most_runs_settle_a_faultless_agent_sooner_and_one_sided_ones_sooner_still() -> None:
    unlimited = PLAN._replace(max_runs=MAX_CALIBRATED_RUNS + 1)
    assert (faultless(unlimited), faultless(PLAN), faultless(ONE_SIDED)) == (44, 40, 33)
    assert faultless(unlimited._replace(one_sided=True)) == 36


def test_before_the_first_run_nothing_is_settled_unless_every_rate_is_enough() -> None:
    assert PLAN.verdict(0, 0) is None
    assert PLAN._replace(min_pass_rate=0.0).verdict(0, 0) == "pass"


def test_a_rate_that_no_runs_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match="no number of runs can show"):
        PLAN._replace(min_pass_rate=1.0).verdict(5, 5)


@pytest.mark.parametrize("passes, runs", [(0, 0), (9, 10), (28, 30), (57, 60)])
def test_so_many_more_runs_without_a_failure_settle_it_and_one_fewer_does_not(passes: int, runs: int) -> None:
    more = PLAN.more(passes, runs)
    assert more is not None
    assert PLAN.verdict(passes + more, runs + more) == "pass"
    assert PLAN.verdict(passes + more - 1, runs + more - 1) is None


def test_runs_beyond_the_most_are_no_advice() -> None:
    assert PLAN._replace(max_runs=39).more(0, 0) == 36, "with fewer looks the threshold is lower"
    assert PLAN._replace(max_runs=35).more(0, 0) is None


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize(
    "least, max_runs",
    [(0.5, 60), (0.9, 100), *(pytest.param(*case, marks=pytest.mark.referee) for case in [(0.8, 150), (0.95, 300)])],
)
def test_the_chance_of_a_wrong_verdict_is_within_the_limit(least: float, max_runs: int, one_sided: bool) -> None:
    """At the minimum itself, where errors are most frequent, added up over all orders of passes and failures."""
    plan = SequentialPlan(least, 0.95, max_runs, one_sided)
    for wrong, rate in (("pass", least), ("fail", least)):
        alive, wrongly = np.array([1.0]), 0.0
        for runs in range(1, max_runs + 1):
            alive = np.append(alive * (1 - rate), 0.0) + np.append(0.0, alive * rate)
            stops = np.array([plan.verdict(passes, runs) == wrong for passes in range(runs + 1)])
            wrongly += alive[stops].sum()
            alive[stops] = 0.0
        assert 0.4 * plan.tail < wrongly <= plan.tail


def test_no_calibration_is_made_for_very_many_runs() -> None:
    assert calibrated_tail(0.9, 0.025, MAX_CALIBRATED_RUNS + 1) == 0.025
    assert calibrated_tail(0.0, 0.025, 10) == 0.025


@given(st.integers(1, 60).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_after_a_single_look_the_interval_is_that_of_clopper_and_pearson(count: tuple[int, int]) -> None:
    passes, runs = count
    estimate = SequentialPlan(0.0, 0.95, 100).estimate(passes, [runs])
    assert estimate is not None
    exact = clopper_pearson(passes, runs)
    assert math.isclose(estimate.interval.low, exact.low, abs_tol=1e-6)
    assert math.isclose(estimate.interval.high, exact.high, abs_tol=1e-6)


@given(st.integers(1, 20), st.integers(0, 200), st.sampled_from([0.6, 0.8, 0.9]), st.booleans())
def test_the_corrected_interval_agrees_with_a_settled_verdict(
    rounds: int, passes: int, least: float, one_sided: bool
) -> None:
    plan, looks = SequentialPlan(least, 0.95, 200, one_sided), list(range(10, 10 * rounds + 1, 10))
    passes = min(passes, looks[-1])
    verdict, estimate = plan.verdict(passes, looks[-1]), plan.estimate(passes, looks)
    assert estimate is not None
    if verdict == "pass":
        assert estimate.interval.low >= least
    if verdict == "fail":
        assert estimate.interval.high < least


def test_without_looks_or_after_very_many_runs_nothing_is_corrected() -> None:
    assert PLAN.estimate(3, []) is None
    assert PLAN.estimate(3, [MAX_CORRECTED_RUNS + 1]) is None


def test_stopping_early_saves_runs_against_the_fixed_number_with_the_same_power() -> None:
    least, rate, max_runs = 0.5, 0.75, 80
    plan = SequentialPlan(least, 0.95, max_runs)
    passes = (np.random.default_rng(32).random((4_000, max_runs)) < rate).cumsum(axis=1)
    fewest = [
        next(count for count in range(runs + 2) if count > runs or plan.verdict(count, runs) == "pass")
        for runs in range(1, max_runs + 1)
    ]
    settles = passes >= np.array(fewest)
    runs = np.where(settles.any(axis=1), settles.argmax(axis=1) + 1, max_runs)
    needed = fixed_runs_needed(least, rate)
    assert needed is not None
    assert settles.any(axis=1).mean() >= 0.9
    assert runs.mean() < 0.85 * needed
