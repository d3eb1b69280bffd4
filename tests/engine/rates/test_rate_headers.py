from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.rates.rate_headers import RATE_HEADERS, Headroom, read_headroom

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def test_the_limit_that_is_closest_to_being_reached_counts() -> None:
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "15000",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert read_headroom(headers, NOW) == Headroom(0.1, 360)


def test_anthropic_states_the_time_of_the_reset() -> None:
    headers = {
        "anthropic-ratelimit-input-tokens-limit": "50000",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-18T12:00:30Z",
    }
    assert read_headroom(headers, NOW) == Headroom(0.0, 30)


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("20ms", 0.02),
        ("1.5s", 1.5),
        ("1h2m3s", 3723),
        ("12", 12),
        ("2026-11-18T11:00:00Z", 0),
        ("soon", None),
        ("", None),
    ],
)
def test_a_reset_is_read_in_every_form(text: str, seconds: float | None) -> None:
    headers = {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "5",
        "x-ratelimit-reset-requests": text,
    }
    headroom = read_headroom(headers, NOW)
    assert headroom is not None
    assert headroom.reset_seconds == (None if seconds is None else pytest.approx(seconds))


def test_without_headers_nothing_is_known() -> None:
    assert read_headroom({"content-type": "application/json"}, NOW) is None


@given(st.dictionaries(st.sampled_from(RATE_HEADERS), st.text() | st.from_regex(r"-?\d+(\.\d+)?[a-z]*")))
def test_headers_may_hold_anything(headers: dict[str, str]) -> None:
    headroom = read_headroom(headers, NOW)
    if headroom is not None:
        assert 0 <= headroom.share <= 1
        assert headroom.reset_seconds is None or headroom.reset_seconds >= 0
