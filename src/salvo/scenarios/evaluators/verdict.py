"""Turn what an evaluator returned into a complete EvalResult that can be stored and read again."""

from __future__ import annotations

import math
from types import UnionType
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import Cause, EvalResult

_MAX_REPR = 200


def as_eval_result(returned: Any, name: str, min_score: float = 1.0) -> EvalResult:
    """Return a complete result; an unjudged one if the value cannot be scored. `name` is the evaluator's."""
    if isinstance(returned, EvalResult):
        return _complete(returned, name)
    if isinstance(returned, bool):
        return EvalResult.judged(returned)
    if _is_score(returned):
        return EvalResult(
            passed=returned >= min_score,
            score=float(returned),
            message=f"score {returned:g}",
            expected=min_score,
            actual=float(returned),
        )
    return unjudged(f"{name} returned {_repr(returned)}. It must be an EvalResult, a bool or a number from 0 to 1.")


def unjudged(error: str) -> EvalResult:
    return EvalResult.unjudged(error, Cause.EVALUATOR)


def _complete(result: EvalResult, name: str) -> EvalResult:
    passed: Any = result.passed
    if passed is None:
        error = result.error or result.message or f"{name} gave no verdict."
        return _storable(result, name, score=None, error=error, message=error, cause=result.cause or Cause.EVALUATOR)
    if not isinstance(passed, bool):
        return unjudged(f"{name} returned passed={_repr(passed)}. It must be True, False or None.")
    if result.score is not None and not _is_score(result.score):
        return unjudged(f"{name} returned score={_repr(result.score)}. A score lies between 0 and 1.")
    return _storable(result, name, score=float(passed if result.score is None else result.score))


_FIELD_TYPES: dict[str, tuple[type | UnionType, str]] = {
    "message": (str, "text"),
    "error": (str | None, "text or None"),
    "cause": (Cause | None, "a Cause or None"),
    "details": (dict, "a dict"),
    "attachments": (dict, "a dict"),
}


def _storable(result: EvalResult, name: str, **changes: Any) -> EvalResult:
    """Return the result as it will be read again; an unjudged one if a field cannot be stored."""
    for field, (type_, description) in _FIELD_TYPES.items():
        value = getattr(result, field)
        if not isinstance(value, type_):
            return unjudged(f"{name} returned {field}={_repr(value)}. It must be {description}.")
    contents = {field: getattr(result, field) for field in ("expected", "actual", "details", "attachments")}
    if all(map(_is_plain, contents.values())):  # as those of most built-in evaluators
        return result.model_copy(update=changes)
    try:
        contents = json_codec.plain(contents)
    except (TypeError, ValueError, RecursionError):
        # Convert each field by itself, to name the one that cannot be stored.
        for field, value in contents.items():
            try:
                contents[field] = json_codec.plain(value)
            except (TypeError, ValueError, RecursionError) as error:
                reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
                return unjudged(f"{name} returned something in {field} that cannot be stored: {reason}.")
    return result.model_copy(update={**contents, **changes})


def _is_plain(value: Any) -> bool:
    """Return whether a value surely is as it will be read again. For a large one this is not known."""
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (str, bool) or (type(value) is dict and not value)


def _is_score(value: Any) -> bool:
    # NaN compares false with everything, so it is refused as well.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a user's object may raise anything
        text = "something that cannot be shown"
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}…"
