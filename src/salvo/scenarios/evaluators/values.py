"""JSON values as assertions see them: when two are equal, and what kind a value is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
}


def json_kind(value: Any) -> str:
    """Return the word for a JSON value; for any other value, such as a date, the name of its Python type."""
    exact = _KINDS.get(type(value))
    return exact or next((word for type_, word in _KINDS.items() if isinstance(value, type_)), type(value).__name__)


def json_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON: 1 is 1.0, but neither is true, and "1" is not a number."""
    if json_kind(one) != json_kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(json_equal(part, other[name]) for name, part in one.items())
    return bool(one == other)


def first_non_json(value: Any) -> Any:
    """Return the first part that JSON cannot express, such as a date; else None."""
    if isinstance(value, list):
        return next(filter(None, map(first_non_json, value)), None)
    if isinstance(value, dict):
        return next(filter(None, map(first_non_json, [*value, *value.values()])), None)
    return None if value is None or isinstance(value, (bool, int, float, str)) else value


def at_most(actual: float, limit: float) -> bool:
    """Return whether a value is within a limit. A sum of prices must not fail by the last bit of a float."""
    return actual <= limit or math.isclose(actual, limit, rel_tol=1e-9)
