"""Expected arguments: what they match, and which difference is shown."""

from datetime import date
from typing import Any

import pytest

from salvo.scenarios.evaluators.builtin.argument_matchers import first_difference, has_regex, matcher_errors


@pytest.mark.parametrize(
    "matcher, matching, other, message",
    [
        ({"regex": "^[A-Z]{3}$"}, "JFK", "jfk", 'x matching "^[A-Z]{3}$", got "jfk"'),
        ({"regex": "5"}, "5", 5, 'x matching "5", got 5'),
        ({"approx": 9.99, "tolerance": 0.01}, 10.0, 10.01, "x 9.99 ± 0.01, got 10.01"),
        ({"approx": 9.99, "tolerance": 0.01}, 9.98, "9.99", 'x 9.99 ± 0.01, got "9.99"'),
        ({"approx": 0.3}, 0.1 + 0.2, 0.31, "x 0.3 ± 1e-6, got 0.31"),
        ({"approx": 1}, 1, True, "x 1 ± 1e-6, got true"),
        ({"approx": 1, "tolerance": 10**400}, 10**399, float("inf"), None),
        ({"any": False}, {"any": False}, {"any": True}, "x.any false, got true"),
        (5, 5.0, "5", 'x 5, got "5"'),
        (True, True, 1, "x true, got 1"),
    ],
)
def test_a_matcher_stands_for_many_values(matcher: Any, matching: Any, other: Any, message: str | None) -> None:
    assert first_difference({"x": matcher}, {"x": matching}) == ""
    difference = first_difference({"x": matcher}, {"x": other})
    assert difference
    if message is not None:
        assert difference == message


def test_any_value_must_be_there_even_if_it_is_null() -> None:
    assert first_difference({"x": {"any": True}}, {"x": None}) == ""
    assert first_difference({"x": {"any": True}}, {}) == "x with any value, but it is missing"


def test_other_arguments_may_have_any_value() -> None:
    expected = {"to": "JFK", "legs": [{"who": "Ada"}]}
    assert first_difference(expected, {"to": "JFK", "legs": [{"who": "Ada", "age": 36}], "seat": "1A"}) == ""
    assert first_difference(expected, {"to": "JFK", "legs": [{"who": "Bob"}]}) == 'legs[0].who "Ada", got "Bob"'
    assert first_difference(expected, {"to": "JFK", "legs": []}) == 'legs [{"who":"Ada"}], got []'


@pytest.mark.parametrize(
    "expected, message",
    [
        ({"x": {"regex": "("}}, '"(" is not a regular'),
        ({"x": {"regex": 5}}, "regex takes a string, not 5."),
        ({"x": [{"approx": "5"}]}, 'approx takes a number, not "5".'),
        ({"x": {"approx": 5, "tolerance": -1}}, "tolerance must not be negative"),
        ({"on": date(2026, 3, 15)}, "A date is never among the arguments"),
    ],
)
def test_a_matcher_that_cannot_match_is_an_error(expected: Any, message: str) -> None:
    [error] = matcher_errors(expected)
    assert error.startswith(message)


def test_a_regex_is_found_at_any_depth() -> None:
    assert has_regex({"a": [{"b": {"regex": "x"}}]})
    assert not has_regex({"a": [{"regex": "x", "other": 1}]})
