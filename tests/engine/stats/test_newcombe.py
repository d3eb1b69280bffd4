"""The interval of a difference, against the published one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.stats.pass_rates import Tally, newcombe

tallies = st.integers(1, 500).flatmap(lambda runs: st.builds(Tally, st.integers(0, runs), st.just(runs)))


@pytest.mark.parametrize(
    "b, a, low, high",
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_the_interval_is_the_one_in_newcombe_1998(
    b: tuple[int, int], a: tuple[int, int], low: float, high: float
) -> None:
    assert newcombe(Tally(*a), Tally(*b)) == pytest.approx((low, high), abs=5e-5)


@given(tallies, tallies)
def test_it_holds_the_difference_seen_and_stays_between_minus_one_and_one(a: Tally, b: Tally) -> None:
    found = newcombe(a, b)
    assert found is not None
    difference = b.passes / b.runs - a.passes / a.runs
    assert -1 <= found.low <= difference <= found.high <= 1


@given(tallies, tallies)
def test_exchanged_sides_give_the_mirrored_interval(a: Tally, b: Tally) -> None:
    found, mirrored = newcombe(a, b), newcombe(b, a)
    assert found is not None
    assert mirrored == pytest.approx((-found.high, -found.low), abs=1e-12)


@given(tallies, tallies)
def test_more_confidence_is_a_wider_interval(a: Tally, b: Tally) -> None:
    narrow, wide = newcombe(a, b, 0.8), newcombe(a, b, 0.99)
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low or narrow.low == -1
    assert narrow.high < wide.high or narrow.high == 1


def test_a_side_without_runs_says_nothing() -> None:
    assert newcombe(Tally(0, 0), Tally(1, 2)) is None
    assert newcombe(Tally(1, 2), Tally(0, 0)) is None


@pytest.mark.parametrize("confidence", [0, 1, math.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        newcombe(Tally(0, 0), Tally(0, 0), confidence)
