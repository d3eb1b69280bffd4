"""JSON values as assertions see them: when two are the same, what kind one is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from salvo.engine.text.messages import did_you_mean

_KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
}


def kind(value: Any) -> str:
    """The word for a value; for what is no JSON value (a date in YAML), the name of its Python type."""
    exact = _KINDS.get(type(value))
    return exact or next((word for type_, word in _KINDS.items() if isinstance(value, type_)), type(value).__name__)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is 1.0, but neither is true, and "1" is no number."""
    if kind(one) != kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(part, other[name]) for name, part in one.items())
    return bool(one == other)


def not_json(value: Any) -> Any:
    """The first part that JSON has no form for, such as a date that YAML read without quotes; else None."""
    if isinstance(value, list):
        return next(filter(None, map(not_json, value)), None)
    if isinstance(value, dict):
        return next(filter(None, map(not_json, [*value, *value.values()])), None)
    return None if value is None or isinstance(value, (bool, int, float, str)) else value


def at_most(actual: float, limit: float) -> bool:
    """A sum of prices that reaches its limit must not fail by the last bit of a float."""
    return actual <= limit or math.isclose(actual, limit, rel_tol=1e-9)


def one_of(choices: Any) -> BeforeValidator:
    """For a field that is one of a Literal's words: another word is told which was likely meant."""
    words: tuple[str, ...] = get_args(choices)

    def check(given: Any) -> Any:
        if given in words:
            return given
        hint = did_you_mean(str(given), words, cutoff=0.5)
        raise PydanticCustomError("one_of", "must be one of {words}{hint}", {"words": ", ".join(words), "hint": hint})

    return BeforeValidator(check)
