"""Compare the arguments of a tool call with the expected ones.

Expected arguments must match, in nested objects too; other arguments may have any value. Lists match element by
element. A matcher may stand for a value: `{regex: …}`, `{any: true}`, or `{approx: 9.99, tolerance: 0.01}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from salvo.engine.runtime import safe_regex
from salvo.engine.text.messages import excerpt
from salvo.scenarios.evaluators.values import first_non_json, json_equal, json_kind

DEFAULT_TOLERANCE = 1e-6


def first_difference(expected: Any, actual: Any, name: str = "") -> str:
    """Return the first value that does not match, as in `price 9.99, got 12`; empty if all values match."""
    if _is_matcher(expected):
        return "" if _matches(expected, actual) else f"{name} {_describe(expected)}, got {excerpt(actual)}"
    if isinstance(expected, dict) and isinstance(actual, dict):
        return next(filter(None, _object_differences(expected, actual, name)), "")
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        return next(filter(None, (first_difference(*pair, f"{name}[{index}]") for index, pair in pairs)), "")
    return "" if json_equal(expected, actual) else f"{name} {excerpt(expected)}, got {excerpt(actual)}".lstrip()


def _object_differences(expected: Mapping[str, Any], actual: Mapping[str, Any], name: str) -> Iterator[str]:
    for key, value in expected.items():
        inner = f"{name}.{key}".lstrip(".")
        if key in actual:
            yield first_difference(value, actual[key], inner)
        else:
            yield f"{inner} {_describe(value)}, but it is missing"


def matcher_errors(expected: Any) -> Iterator[str]:
    """Yield what is wrong with the matchers among the expected arguments."""
    if _is_matcher(expected):
        yield from _errors_in_matcher(expected)
    elif isinstance(expected, (dict, list)):
        for part in expected.values() if isinstance(expected, dict) else expected:
            yield from matcher_errors(part)
    elif first_non_json(expected) is not None:
        yield f"A {json_kind(expected)} is never among the arguments of a call. Put it in quotes."


def has_regex(expected: Any) -> bool:
    if isinstance(expected, dict):
        return (_is_matcher(expected) and "regex" in expected) or any(map(has_regex, expected.values()))
    return isinstance(expected, list) and any(map(has_regex, expected))


def _is_matcher(expected: Any) -> bool:
    return isinstance(expected, dict) and (
        set(expected) in ({"regex"}, {"approx"}, {"approx", "tolerance"})
        # {any: false} would mean nothing as a matcher, so it is a value like any other.
        or (set(expected) == {"any"} and expected["any"] is True)
    )


def _errors_in_matcher(matcher: Mapping[str, Any]) -> Iterator[str]:
    if "regex" in matcher:
        pattern = matcher["regex"]
        if not isinstance(pattern, str):
            yield f"regex takes a string, not {excerpt(pattern)}."
        elif error := safe_regex.pattern_error(pattern):
            yield error
    for name in ("approx", "tolerance"):
        if name in matcher and not _is_finite(matcher[name]):
            yield f"{name} takes a number, not {excerpt(matcher[name])}."
    if _is_finite(matcher.get("tolerance")) and matcher["tolerance"] < 0:
        yield f"tolerance must not be negative, as {excerpt(matcher['tolerance'])} is."


def _matches(matcher: Mapping[str, Any], actual: Any) -> bool:
    if "regex" in matcher:
        return isinstance(actual, str) and safe_regex.search(matcher["regex"], actual)
    if "approx" in matcher:
        if not _is_finite(actual):
            return False
        return abs(_as_decimal(actual) - _as_decimal(matcher["approx"])) <= _as_decimal(_tolerance(matcher))
    return True


def _describe(expected: Any) -> str:
    if not _is_matcher(expected):
        return excerpt(expected)
    if "regex" in expected:
        return f"matching {excerpt(expected['regex'])}"
    if "approx" in expected:
        return f"{excerpt(expected['approx'])} ± {excerpt(_tolerance(expected))}"
    return "with any value"


def _tolerance(matcher: Mapping[str, Any]) -> float:
    tolerance: float = matcher.get("tolerance", DEFAULT_TOLERANCE)
    return tolerance


def _is_finite(value: Any) -> bool:
    return json_kind(value) == "number" and (isinstance(value, int) or math.isfinite(value))


def _as_decimal(number: float) -> Decimal:
    """Return the number as it is written: in floats, 10.0 is further from 9.99 than 0.01."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))
