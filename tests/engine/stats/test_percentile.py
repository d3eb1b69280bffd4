"""Percentiles, checked against numpy."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from salvo.engine.stats.pass_rates import percentile


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
    with pytest.raises(ValueError, match="percent must be"):
        percentile([1.0], percent)
