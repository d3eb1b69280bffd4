"""Numbers never claim more than they hold."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.text.formatting import (
    at_least,
    at_most,
    display_json,
    exact_percent,
    format_time,
    money,
    p_value,
    percent,
    pluralize,
    points,
    running_cost,
    seconds,
    truncate,
)


@pytest.mark.parametrize("share, shown", [(0, "0%"), (0.001, "0.1%"), (0.8, "80%"), (0.9999, "99.99%"), (1, "100%")])
def test_a_share_that_is_not_the_whole_never_reads_so(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_a_running_cost_never_reads_like_nothing() -> None:
    assert [running_cost(cost) for cost in (0.00002, 0.00016, 1.5)] == ["<$0.0001", "$0.0002", "$1.5000"]


def test_bounds_are_rounded_outwards() -> None:
    assert (at_least(0.4999), at_most(0.9401), at_least(0.29)) == ("49%", "95%", "29%")


def test_a_bound_near_certainty_keeps_its_digits() -> None:
    assert (at_least(0.9996), at_most(0.0004), at_least(1.0), at_most(0.0)) == ("99.96%", "0.04%", "100%", "0%")


def test_a_threshold_is_shown_as_it_was_typed() -> None:
    assert [exact_percent(share) for share in (0.9, 0.895, 0.9995, 1, 0.0)] == ["90%", "89.5%", "99.95%", "100%", "0%"]


def _shown(text: str) -> Decimal:
    return Decimal(text.removesuffix("%").replace("−", "-")) / 100


SHARE = st.floats(0, 1)


@given(SHARE, SHARE)
def test_rounding_never_carries_a_rate_or_a_bound_across_a_threshold(share: float, threshold: float) -> None:
    limit = _shown(exact_percent(threshold))
    for text in (percent(share, threshold), at_least(share, threshold), at_most(share, threshold)):
        assert (_shown(text) < limit, _shown(text) > limit) == (share < threshold, share > threshold)


@given(SHARE)
def test_a_lower_bound_is_never_rounded_up_and_an_upper_bound_never_down(share: float) -> None:
    assert _shown(at_least(share)) <= Decimal(repr(share)) <= _shown(at_most(share))


@pytest.mark.parametrize(
    "p, text",
    [(0.0504, "0.0504"), (0.0499, "0.0499"), (0.023, "0.02"), (0.004, "0.004"), (0.0004, "< 0.001"), (1.0, "1.00")],
)
def test_a_p_value_stays_on_its_side_of_the_level(p: float, text: str) -> None:
    assert p_value(p, 0.05) == text


@given(st.floats(-1, 1))
def test_a_difference_is_shown_as_none_only_if_there_is_none(difference: float) -> None:
    shown = _shown(points(difference))
    assert (shown < 0, shown > 0) == (difference < 0, difference > 0)


@pytest.mark.parametrize(
    "dollars, shown", [(0, "$0"), (0.032, "$0.032"), (12.345, "$12.35"), (0.5, "$0.500"), (0.000042, "$0.000042")]
)
def test_money_shows_two_digits_that_say_something(dollars: float, shown: str) -> None:
    assert money(dollars) == shown


def test_short_and_long_durations() -> None:
    assert (seconds(0.34), seconds(8.24), seconds(120)) == ("340ms", "8.2s", "120.0s")


def test_counting_and_cutting() -> None:
    assert (pluralize(1, "run"), pluralize(2, "run"), pluralize(0, "retry", "retries")) == (
        "1 run",
        "2 runs",
        "0 retries",
    )
    assert truncate("abcdef", 4) == "abc…"


def test_a_time_that_is_none_stays_as_it_is() -> None:
    assert (format_time("2026-11-15T12:00:01+00:00"), format_time("soon\x1b")) == ("2026-11-15 12:00", "soon\\x1b")


def test_a_value_is_one_line_of_json() -> None:
    assert display_json({"a": "ü\n", "b": {1}}) == '{"a": "ü\\n", "b": "{1}"}'
    assert len(display_json("x" * 1000)) == 200
