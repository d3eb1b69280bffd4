"""`text`: what the final output contains, how it begins, how long it is and how near it is to an expected text.

It needs no model. All checks that are given must hold; with `negate`, they must not all hold. Upper and lower case are
the same with `ignore_case`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from salvo.engine.jsonio.json_schema import check, problems_in_time
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.messages import excerpt
from salvo.errors import InputError
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

_CHECKS = ("contains_all", "contains_any", "starts_with", "words", "edit_distance", "contains_json")
_MOST_OBJECTS = 200
"""Braces at which JSON is looked for. Each attempt may read the rest of the text."""
_MAX_DISTANCE = 10_000


class WordCount(FileModel):
    """How many words a text has: parts that are separated by white space."""

    min: int = Field(0, ge=0, description="At least so many.")
    max: int | None = Field(None, ge=0, description="At most so many.")


class EditDistance(FileModel):
    """How many characters differ: inserted, deleted or replaced (Levenshtein)."""

    expected: str = Field(description="The text to compare with.")
    max: int = Field(ge=0, le=_MAX_DISTANCE, description="At most so many characters differ.")


class TextFields(FileModel):
    """What the final output is, as text. All the checks must hold."""

    contains_all: list[str] | None = Field(None, min_length=1, description="It contains every one of these.")
    contains_any: list[str] | None = Field(None, min_length=1, description="It contains one of these.")
    starts_with: str | None = Field(None, description="It begins with this.")
    words: WordCount | None = Field(None, description="How many words it has.")
    edit_distance: EditDistance | None = Field(None, description="How near it is to an expected text.")
    contains_json: bool | dict[str, Any] | None = Field(
        None, description="It contains a JSON object; with a JSON Schema, one that is valid by it."
    )
    ignore_case: bool = Field(False, description="Whether upper and lower case are the same.")
    negate: bool = Field(False, description="Whether the checks must not all hold.")

    @model_validator(mode="after")
    def _has_a_check(self) -> Self:
        if all(getattr(self, name) is None for name in _CHECKS):
            raise ValueError(f"needs one of {', '.join(_CHECKS)}")
        return self


async def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    fields = assertion.typed_fields(TextFields)
    text = result.output_text
    # A long text may take long to compare.
    failures = await in_killable_thread(_failures, fields, text)
    if fields.contains_json is not None:
        failures += await _json_failures(fields.contains_json, text)
    passed = bool(failures) == fields.negate
    if fields.negate:
        message = "" if passed else f"all checks hold for {excerpt(text)}, and they must not"
    else:
        message = "" if passed else f"{'; '.join(failures)}; it is {excerpt(text)}"
    expected = {name: value for name, value in assertion.fields.items() if name in TextFields.model_fields}
    return EvalResult.judged(passed, message, expected=expected, actual=text)


def _failures(fields: TextFields, text: str) -> list[str]:
    return list(_failed_checks(fields, text))


def _failed_checks(fields: TextFields, text: str) -> Iterator[str]:
    """Yield why each check does not hold, except the one for JSON."""
    fold: Callable[[str], str] = str.lower if fields.ignore_case else str
    folded = fold(text)
    if missing := [part for part in fields.contains_all or [] if fold(part) not in folded]:
        yield f"the final output does not contain {', '.join(map(excerpt, missing))}"
    if fields.contains_any is not None and not any(fold(part) in folded for part in fields.contains_any):
        yield f"the final output contains none of {', '.join(map(excerpt, fields.contains_any))}"
    if fields.starts_with is not None and not folded.startswith(fold(fields.starts_with)):
        yield f"the final output does not begin with {excerpt(fields.starts_with)}"
    if fields.words is not None:
        count = len(text.split())
        if count < fields.words.min or (fields.words.max is not None and count > fields.words.max):
            yield f"the final output has {count} words"
    if fields.edit_distance is not None:
        limit = fields.edit_distance.max
        if edit_distance(folded, fold(fields.edit_distance.expected), limit) > limit:
            yield f"more than {limit} characters differ from the expected text"


def edit_distance(one: str, other: str, limit: int) -> int:
    """Return the Levenshtein distance, or a number above the limit. Only pairs that can be within it are compared."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    previous = {column: column for column in range(min(len(other), limit) + 1)}
    for row, character in enumerate(one, start=1):
        current: dict[int, int] = {0: row} if row <= limit else {}
        for column in range(max(1, row - limit), min(len(other), row + limit) + 1):
            replaced = previous.get(column - 1, limit + 1) + (character != other[column - 1])
            shifted = 1 + min(previous.get(column, limit + 1), current.get(column - 1, limit + 1))
            current[column] = min(replaced, shifted)
        if not current or min(current.values()) > limit:
            return limit + 1
        previous = current
    return previous.get(len(other), limit + 1)


async def _json_failures(schema: bool | dict[str, Any], text: str) -> list[str]:
    objects = await in_killable_thread(_json_objects, text)
    if schema is False:
        return ["the final output contains JSON"] if objects else []
    if not objects:
        return ["the final output contains no JSON object"]
    if schema is True:
        return []
    for value in objects:
        if not await problems_in_time(schema, value):
            return []
    return ["no JSON object in the final output is valid by the schema"]


def _json_objects(text: str) -> list[Any]:
    """Return each JSON object in a text that is not inside another one."""
    decoder = json.JSONDecoder()
    objects: list[Any] = []
    position = 0
    for _ in range(_MOST_OBJECTS):
        position = text.find("{", position)
        if position < 0:
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            objects.append(value)
    return objects


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    fields = TextFields.model_validate(values)
    if isinstance(fields.contains_json, dict):
        try:
            check(fields.contains_json)
        except InputError as error:
            yield "contains_json", str(error)


TYPE = EvaluatorType("text", _evaluate, TextFields, _check_fields)
