"""What an evaluator returned, as a verdict: made whole, and such that it can be stored and read again."""

from __future__ import annotations

from dataclasses import replace
from types import UnionType
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.scenarios.result import Cause, EvalResult


def as_eval_result(returned: Any, who: str, min_score: float = 1.0) -> EvalResult:
    """What an evaluator returned, made whole; unjudged where it is nothing that can be scored."""
    if isinstance(returned, EvalResult):
        return _whole(returned, who)
    if isinstance(returned, bool):
        return EvalResult.judged(returned)
    if _is_score(returned):
        return EvalResult(returned >= min_score, float(returned), f"score {returned:g}", min_score, float(returned))
    return unjudged(f"{who} returned {_short(returned)}. It must be an EvalResult, a bool or a number from 0 to 1.")


def _whole(result: EvalResult, who: str) -> EvalResult:
    passed: Any = result.passed
    if passed is None:
        error = result.error or result.message or f"{who} gave no verdict."
        return _as_stored(result, who, score=None, error=error, message=error, cause=result.cause or Cause.EVALUATOR)
    if not isinstance(passed, bool):
        return unjudged(f"{who} returned passed={_short(passed)}. It must be True, False or None.")
    if result.score is not None and not _is_score(result.score):
        return unjudged(f"{who} returned score={_short(result.score)}. A score lies between 0 and 1.")
    return _as_stored(result, who, score=float(passed if result.score is None else result.score))


def _as_stored(result: EvalResult, who: str, **made_whole: Any) -> EvalResult:
    """As it will be read again; unjudged where nobody could."""
    for name, (kind, word) in _KINDS.items():
        given = getattr(result, name)
        if not isinstance(given, kind):
            return unjudged(f"{who} returned {name}={_short(given)}. It must be {word}.")
    contents = {name: getattr(result, name) for name in ("expected", "actual", "details", "attachments")}
    try:
        contents = json_codec.plain(contents)
    except (TypeError, ValueError, RecursionError):
        for name, given in contents.items():
            try:
                contents[name] = json_codec.plain(given)
            except (TypeError, ValueError, RecursionError) as fault:
                why = "it is nested too deeply" if isinstance(fault, RecursionError) else fault
                return unjudged(f"{who} returned something in {name} that cannot be stored: {why}.")
    return replace(result, **contents, **made_whole)


_KINDS: dict[str, tuple[type | UnionType, str]] = {
    "message": (str, "text"),
    "error": (str | None, "text or None"),
    "cause": (Cause | None, "a Cause or None"),
    "details": (dict, "a dict"),
    "attachments": (dict, "a dict"),
}


def _is_score(value: Any) -> bool:
    # NaN is not between anything, so it is refused as well.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def unjudged(error: str) -> EvalResult:
    return EvalResult.unjudged(error, Cause.EVALUATOR)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a user's object may raise whatever it likes
        text = "something that cannot be shown"
    return text if len(text) <= 200 else f"{text[:200]}…"
