"""Values that a column cannot have. SQLite stores any type in any column, and somebody may have altered the file."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Float, Integer

from salvo.errors import DamagedEvaluationError, InputError, StoreError

PARSE_ERRORS = (ValueError, KeyError, TypeError, AttributeError, InputError)
"""What parsing a damaged value may raise."""


def damaged_evaluation(evaluation_id: Any, problem: object) -> DamagedEvaluationError:
    name = as_logged(evaluation_id)
    verify = f"verify {name}" if isinstance(evaluation_id, str) else "verify --all"
    return DamagedEvaluationError(name, _reason(problem), hint=f"`byop {verify}` says what was altered.")


def damaged_row(what: str, name: Any, problem: object) -> StoreError:
    """Return the error for a row that is not about an evaluation, such as that of a user."""
    message = f"The stored {what} {as_logged(name)} is damaged: {_reason(problem)}."
    return StoreError(message, hint="`byop verify --all` says what was altered.")


def _reason(problem: object) -> str:
    reason = f"{type(problem).__name__} {problem}" if isinstance(problem, KeyError | AttributeError) else str(problem)
    return reason.rstrip(".")


def as_logged(value: Any) -> Any:
    """Return a value that JSON and messages can have: binary data as Python writes it, anything else as it is."""
    return repr(value) if isinstance(value, bytes) else value


def check_columns(values: Mapping[str, Any], columns: Mapping[str, ColumnElement[Any]]) -> None:
    """Raise ValueError if a value is not of the type of its column. Which ones may be missing is not checked here."""
    for name, value in values.items():
        column = columns.get(name)
        if column is not None and value is not None and not _fits(value, column):
            raise ValueError(f"{name} is {_describe(value)}")


def _fits(value: Any, column: ColumnElement[Any]) -> bool:
    if isinstance(column.type, Boolean):
        return isinstance(value, bool)
    if isinstance(column.type, Integer):
        return isinstance(value, int)
    if isinstance(column.type, Float):
        return isinstance(value, int | float) and isfinite(value)
    return isinstance(value, str)


def check_type(name: str, value: Any, *kinds: type) -> Any:
    """Return the value. Raise TypeError if it is of another type."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name} is {_describe(value)}")
    return value


def _describe(value: Any) -> str:
    if isinstance(value, bytes):
        return "binary data"
    if isinstance(value, float) and not isfinite(value):
        return "a number that is not finite"
    return {"str": "a text", "int": "a number", "float": "a number", "NoneType": "missing"}.get(
        type(value).__name__, f"a value of type {type(value).__name__}"
    )
