"""Means over scenarios with errors clustered by scenario."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.clusters import Cluster, clustered_mean, t_quantile
from salvo.engine.stats.pass_rates import Interval, clopper_pearson

RATES = Interval(0.0, 1.0)


@given(st.integers(1, 2_000), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_the_quantile_is_scipys(degrees: int, confidence: float) -> None:
    assert t_quantile(confidence, degrees) == pytest.approx(t.ppf(0.5 + confidence / 2, degrees), rel=1e-6)


def test_the_error_is_that_of_the_scenarios_and_not_of_their_runs() -> None:
    rates = [0.9, 0.5, 1.0, 0.2, 0.8]
    narrow = [Cluster(rate, Interval(rate, rate)) for rate in rates]
    mean = clustered_mean(narrow, RATES)
    assert mean is not None
    spread = math.sqrt(sum((rate - 0.68) ** 2 for rate in rates) / 4)
    assert mean.mean == pytest.approx(0.68)
    assert mean.standard_error == pytest.approx(spread / math.sqrt(5))
    assert mean.interval.low == pytest.approx(0.68 - 2.776445 * spread / math.sqrt(5))
    assert mean.interval.high == 1.0, "it ends where a rate does"


def test_scenarios_that_agree_leave_open_what_their_runs_leave_open() -> None:
    mean = clustered_mean([Cluster(1.0, clopper_pearson(10, 10))] * 3, RATES)
    assert mean is not None
    assert mean.standard_error == 0
    assert mean.interval.low == pytest.approx(1 - (1 - clopper_pearson(10, 10).low) / math.sqrt(3))
    assert mean.interval.high == 1.0


def test_one_scenario_has_no_mean_over_scenarios() -> None:
    assert clustered_mean([Cluster(1.0, RATES)], RATES) is None
