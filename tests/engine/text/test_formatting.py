"""Numbers never claim more than they hold."""

import pytest

from salvo.engine.text.formatting import (
    at_least,
    at_most,
    display_json,
    format_time,
    money,
    percent,
    pluralize,
    seconds,
    truncate,
)


@pytest.mark.parametrize("share, shown", [(0, "0%"), (0.001, "<1%"), (0.8, "80%"), (0.9999, ">99%"), (1, "100%")])
def test_a_share_that_is_not_the_whole_never_reads_so(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_bounds_are_rounded_outwards() -> None:
    assert (at_least(0.4999), at_most(0.9401)) == ("49%", "95%")


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
