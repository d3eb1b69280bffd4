"""A call's arguments against the expected ones, which need not be all of them.

What is listed must match, in nested objects too; what is not listed may be anything. Lists match element by element.
In the place of a value may stand a matcher: `{regex: …}`, `{any: true}`, or `{approx: 9.99, tolerance: 0.01}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from salvo.engine.runtime import safe_regex
from salvo.engine.text.messages import shown
from salvo.scenarios.evaluators.values import kind, not_json, same

TOLERANCE = 1e-6


def difference(expected: Any, actual: Any, name: str = "") -> str:
    """The first thing that does not match, as in `price 9.99, got 12`; empty where all of it does."""
    if _is_matcher(expected):
        return "" if _matches(expected, actual) else f"{name} {_described(expected)}, got {shown(actual)}"
    if isinstance(expected, dict) and isinstance(actual, dict):
        return next(filter(None, _parts_of_objects(expected, actual, name)), "")
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        parts = zip(expected, actual, strict=True)
        return next(filter(None, (difference(*pair, f"{name}[{place}]") for place, pair in enumerate(parts))), "")
    return "" if same(expected, actual) else f"{name} {shown(expected)}, got {shown(actual)}".lstrip()


def _parts_of_objects(expected: Mapping[str, Any], actual: Mapping[str, Any], name: str) -> Iterator[str]:
    for part, wanted in expected.items():
        inner = f"{name}.{part}".lstrip(".")
        if part in actual:
            yield difference(wanted, actual[part], inner)
        else:
            yield f"{inner} {_described(wanted)}, but it is missing"


def problems(expected: Any) -> Iterator[str]:
    """What is wrong with the matchers in it, a sentence each."""
    if _is_matcher(expected):
        yield from _matcher_problems(expected)
    elif isinstance(expected, (dict, list)):
        for part in expected.values() if isinstance(expected, dict) else expected:
            yield from problems(part)
    elif not_json(expected) is not None:
        yield f"A {kind(expected)} is never among the arguments of a call. Put it in quotes."


def has_regex(expected: Any) -> bool:
    if isinstance(expected, dict):
        return (_is_matcher(expected) and "regex" in expected) or any(map(has_regex, expected.values()))
    return isinstance(expected, list) and any(map(has_regex, expected))


def _is_matcher(expected: Any) -> bool:
    return isinstance(expected, dict) and (
        set(expected) in ({"regex"}, {"approx"}, {"approx", "tolerance"})
        # {any: false} is an argument like any other: as a matcher it would mean nothing.
        or (set(expected) == {"any"} and expected["any"] is True)
    )


def _matcher_problems(matcher: Mapping[str, Any]) -> Iterator[str]:
    if "regex" in matcher:
        pattern = matcher["regex"]
        problem = (
            safe_regex.pattern_error(pattern)
            if isinstance(pattern, str)
            else f"regex takes a string, not {shown(pattern)}."
        )
        if problem:
            yield problem
    for name in ("approx", "tolerance"):
        if name in matcher and not _is_finite(matcher[name]):
            yield f"{name} takes a number, not {shown(matcher[name])}."
    if _is_finite(matcher.get("tolerance")) and matcher["tolerance"] < 0:
        yield f"tolerance must not be negative, as {shown(matcher['tolerance'])} is."


def _matches(matcher: Mapping[str, Any], actual: Any) -> bool:
    if "regex" in matcher:
        return isinstance(actual, str) and safe_regex.search(matcher["regex"], actual)
    if "approx" in matcher:
        return _is_finite(actual) and _distance(actual, matcher["approx"]) <= _exact(_tolerance(matcher))
    return True


def _described(expected: Any) -> str:
    if not _is_matcher(expected):
        return shown(expected)
    if "regex" in expected:
        return f"matching {shown(expected['regex'])}"
    if "approx" in expected:
        return f"{shown(expected['approx'])} ± {shown(_tolerance(expected))}"
    return "with any value"


def _tolerance(matcher: Mapping[str, Any]) -> float:
    tolerance: float = matcher.get("tolerance", TOLERANCE)
    return tolerance


def _is_finite(value: Any) -> bool:
    return kind(value) == "number" and (isinstance(value, int) or math.isfinite(value))


def _distance(one: float, other: float) -> Decimal:
    return abs(_exact(one) - _exact(other))


def _exact(number: float) -> Decimal:
    """As it is written: in floats, 10.0 is further from 9.99 than 0.01."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))
