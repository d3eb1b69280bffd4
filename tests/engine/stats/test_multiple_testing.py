"""The correction for several tests, against its own paper, scipy, and a simulation with known truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control  # type: ignore[import-untyped]  # scipy ships no types

from salvo.engine.stats.exact_test import exact_p
from salvo.engine.stats.multiple_testing import benjamini_hochberg, blocked_test, needed_p_values
from salvo.engine.stats.pass_rates import Tally

p_values = st.lists(st.floats(0, 1), max_size=40)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_adjusted_p_values_are_scipys(values: list[float]) -> None:
    assert benjamini_hochberg(values) == pytest.approx(list(false_discovery_control(values)), rel=1e-12, abs=1e-300)


def test_the_paper_of_benjamini_and_hochberg_finds_four_of_fifteen() -> None:
    published = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    adjusted = benjamini_hochberg([*published, 0.6528, 0.7590, 1.0])
    assert sum(p <= 0.05 for p in adjusted) == 4
    assert adjusted == sorted(adjusted)


def test_nothing_tested_is_nothing_found() -> None:
    assert benjamini_hochberg([]) == []


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="p-value"):
        benjamini_hochberg([0.5, p])


def test_alone_a_test_needs_alpha_and_among_five_that_found_nothing_a_fifth_of_it() -> None:
    assert needed_p_values([0.3], 0.05) == [0.05]
    assert needed_p_values([0.5, 0.6, 0.7, 0.8, 0.9], 0.05) == pytest.approx([0.01] * 5)
    assert needed_p_values([0.001, 0.6, 0.7, 0.8, 0.9], 0.05) == pytest.approx([0.01, 0.02, 0.02, 0.02, 0.02])
    assert needed_p_values([], 0.05) == []


@given(st.lists(st.floats(0, 1) | st.floats(0, 0.05), max_size=20), st.floats(0, 1), st.sampled_from([0.01, 0.05, 0.2]))
def test_with_the_p_value_needed_a_test_is_a_finding_and_just_above_it_is_not(
    others: list[float], own: float, alpha: float
) -> None:
    needed = needed_p_values([*others, own], alpha)[-1]
    assert benjamini_hochberg([*others, needed * (1 - 1e-9)])[-1] <= alpha
    assert benjamini_hochberg([*others, min(1.0, needed * (1 + 1e-6))])[-1] > alpha


def test_a_comparison_of_identical_models_raises_a_false_alarm_at_most_as_often_as_it_says() -> None:
    rates = np.array([0.2, 0.5, 0.7, 0.9, 0.95, 0.99])
    alarms, overall = 0, 0
    for blocks in _comparisons(np.random.default_rng(41), rates, rates, times=1_000):
        alarms += any(p <= 0.05 for p in benjamini_hochberg([exact_p(a, b) or 0.0 for a, b in blocks]))
        found = blocked_test(blocks)
        assert found is not None
        overall += found.p_value <= 0.05
    assert 0 < alarms <= 0.05 * 1_000
    assert 0 < overall <= 0.05 * 1_000


def test_one_finding_in_twenty_at_most_is_false_where_some_are_true() -> None:
    before = np.array([0.9] * 10)
    after = np.array([0.2] * 3 + [0.9] * 7)
    shares, seen = [], 0
    for blocks in _comparisons(np.random.default_rng(42), before, after, times=1_000):
        adjusted = benjamini_hochberg([exact_p(a, b) or 0.0 for a, b in blocks])
        findings = [index for index, p in enumerate(adjusted) if p <= 0.05]
        shares.append(sum(index >= 3 for index in findings) / max(1, len(findings)))
        seen += sum(index < 3 for index in findings)
    assert 0 < np.mean(shares) <= 0.05
    assert seen > 0.7 * 3 * 1_000


def _comparisons(
    chance: np.random.Generator,
    rates_a: np.typing.NDArray[np.float64],
    rates_b: np.typing.NDArray[np.float64],
    times: int,
) -> list[list[tuple[Tally, Tally]]]:
    """Ten runs a side of each scenario, many times over."""
    passes_a = chance.binomial(10, rates_a, size=(times, len(rates_a)))
    passes_b = chance.binomial(10, rates_b, size=(times, len(rates_b)))
    return [
        [(Tally(int(a), 10), Tally(int(b), 10)) for a, b in zip(row_a, row_b, strict=True)]
        for row_a, row_b in zip(passes_a, passes_b, strict=True)
    ]
