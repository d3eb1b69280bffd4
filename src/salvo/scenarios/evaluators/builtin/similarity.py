"""`similarity`: how near a text of the run is to an expected one, from 0 to 1.

characters   1 - (inserted + deleted characters) / (characters of both texts)
words        the same after the words of each text are sorted, so that their order does not matter

The distances are computed by rapidfuzz. It is an optional dependency, and its cost grows with the product of the
lengths, so texts that are too long to compare in a moment leave the assertion unjudged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from salvo.engine.text.messages import excerpt, install_command
from salvo.errors import InputError
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.builtin.jmespath import Match, path_errors, search, short_value
from salvo.scenarios.evaluators.values import json_kind
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

MAX_PAIRS = 2_500_000_000
"""Characters of one text times characters of the other, which take about a tenth of a second."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class SimilarityFields(FileModel):
    """A text of the run is near to an expected text."""

    expected: Annotated[list[str], BeforeValidator(_as_list, json_schema_input_type=str | list[str])] = Field(
        min_length=1, max_length=20, description="The text, or several of which the nearest counts."
    )
    min_similarity: float = Field(0.8, gt=0, le=1, description="The similarity from which it passes, from 0 to 1.")
    method: Literal["characters", "words"] = Field(
        "characters", description="characters: by inserted and deleted characters. words: the order does not matter."
    )
    ignore_case: bool = Field(False, description="Whether upper and lower case are the same.")
    path: str | None = Field(
        None, min_length=1, description="A JMESPath expression for the text. Default: the final output as text."
    )


async def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    fields = assertion.typed_fields(SimilarityFields)
    where = fields.path or "the final output"
    match = Match(result.output_text) if fields.path is None else await search(fields.path, result)
    actual = match.value
    if not isinstance(actual, str):
        instead = match.note if actual is None else f"got a {json_kind(actual)}"
        message = f"expected a text at {where}, {instead}"
        return EvalResult.judged(False, message, expected=fields.expected, actual=short_value(actual))
    nearest = max(_compare(fields, actual, text) for text in fields.expected)
    passed = nearest.similarity >= fields.min_similarity
    # Rounded down, so that what is printed is never on the other side of the limit.
    similarity = f"{math.floor(nearest.similarity * 10_000) / 10_000:.4g}"
    message = f"similarity {'at most ' if nearest.is_bound else ''}{similarity}"
    if not passed:
        message += f", less than {fields.min_similarity:g}; {where} is {excerpt(actual)}"
    return EvalResult(
        passed=passed,
        # A share of the way to the limit, so that a near miss scores more than a far one.
        score=1.0 if passed else nearest.similarity / fields.min_similarity,
        message=message,
        expected=nearest.text,
        actual=short_value(actual),
        details={"at_most" if nearest.is_bound else "similarity": nearest.similarity, "method": fields.method},
    )


class _Compared(NamedTuple):
    similarity: float
    is_bound: bool
    """Whether the similarity is at most this, by the lengths alone: the texts are too long to compare."""
    text: str


def _compare(fields: SimilarityFields, actual: str, expected: str) -> _Compared:
    one, other = (_normalized(fields, text) for text in (actual, expected))
    if not one or not other:
        return _Compared(float(one == other), False, expected)
    if len(one) * len(other) <= MAX_PAIRS:
        from rapidfuzz.distance import Indel  # an optional dependency

        return _Compared(Indel.normalized_similarity(one, other), False, expected)
    most = 2 * min(len(one), len(other)) / (len(one) + len(other))
    if most < fields.min_similarity:
        return _Compared(most, True, expected)
    raise InputError(
        f"The texts are too long to compare: {len(one):,} and {len(other):,} characters.",
        hint="Compare a part of the text with `path`, or judge it in another way.",
    )


def _normalized(fields: SimilarityFields, text: str) -> str:
    text = text.casefold() if fields.ignore_case else text
    return " ".join(sorted(text.split())) if fields.method == "words" else text.strip()


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    fields = SimilarityFields.model_validate(values)
    if find_spec("rapidfuzz") is None:
        command = install_command("similarity")
        yield "type", f"similarity needs the package rapidfuzz: in the folder of Salvo's source, run {command}"
    if fields.path is not None:
        yield from (("path", error) for error in path_errors(fields.path))


TYPE = EvaluatorType("similarity", _evaluate, SimilarityFields, _check_fields)
