"""The incomplete beta function, against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.beta import at_least, beta_cdf

halves = st.integers(1, 10_000).map(lambda count: count / 2)


@given(st.floats(0, 1), halves, halves)
def test_it_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-12)


@given(st.integers(1, 5_000), st.floats(0, 1))
def test_at_least_no_pass_is_certain_and_the_two_ends_are_powers(runs: int, rate: float) -> None:
    assert at_least(0, runs, rate) == 1.0
    assert at_least(runs, runs, rate) == pytest.approx(rate**runs, rel=1e-8, abs=1e-300)
    assert at_least(1, runs, rate) == pytest.approx(1 - (1 - rate) ** runs, abs=1e-11)
