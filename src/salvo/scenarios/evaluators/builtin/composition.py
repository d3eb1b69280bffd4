"""`all_of`, `any_of` and `not`: assertions composed of others, in three-valued logic.

A part may pass, fail, or not be judged. The whole is judged only if the parts that could not be judged do not matter:
one part that fails decides `all_of`, and one that passes decides `any_of`. Otherwise the whole is not judged either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

_NO_EFFECT = ("weight", "required", "at")


class SeveralFields(FileModel):
    """Other assertions, each as it would be in the file."""

    assertions: list[Assertion] = Field(
        min_length=1, description="Assertions of any type, without weight, required or at."
    )


class AllOfFields(SeveralFields):
    """Every one of several assertions passes."""


class AnyOfFields(SeveralFields):
    """At least one of several assertions passes."""


class NotFields(FileModel):
    """Another assertion fails. If that cannot be judged, this cannot be judged either."""

    assertion: Assertion = Field(description="An assertion of any type, without weight, required or at.")


async def _all_of(_: Scenario, __: Assertion, ___: AgentRunResult, services: EvalServices) -> EvalResult:
    parts = await services.evaluate_parts()
    return _combined(parts, decisive=False, rule="all of them must pass")


async def _any_of(_: Scenario, __: Assertion, ___: AgentRunResult, services: EvalServices) -> EvalResult:
    parts = await services.evaluate_parts()
    return _combined(parts, decisive=True, rule="one of them must pass")


async def _not(_: Scenario, __: Assertion, ___: AgentRunResult, services: EvalServices) -> EvalResult:
    [part] = await services.evaluate_parts()
    if part.passed is None:
        return _with_parts(_unjudged([part]), [part])
    message = f"{part.name} passed, but must fail" if part.passed else ""
    return _with_parts(EvalResult.judged(not part.passed, message), [part])


def _combined(parts: Sequence[EvalResult], *, decisive: bool, rule: str) -> EvalResult:
    """Return `decisive` if one part has that result, unjudged if a part is, and else the opposite."""
    results = [part.passed for part in parts]
    if decisive not in results and None in results:
        return _with_parts(_unjudged(parts), parts)
    passed = decisive if decisive in results else not decisive
    message = ""
    if not passed:
        failed = [f"{part.name}: {part.message or 'failed'}" for part in parts if part.passed is False]
        message = f"{results.count(True)} of {len(parts)} passed, and {rule}; {'; '.join(failed)}"
    return _with_parts(EvalResult.judged(passed, message), parts)


def _unjudged(parts: Sequence[EvalResult]) -> EvalResult:
    part = next(part for part in parts if part.passed is None)
    return EvalResult.unjudged(f"{part.name}: {part.error or part.message}", part.cause or Cause.EVALUATOR)


def _with_parts(result: EvalResult, parts: Sequence[EvalResult]) -> EvalResult:
    """Add what each part came to. What a part stores with the run keeps its place in the list of parts."""
    fields = ("name", "type", "passed", "score", "message", "expected", "actual", "error", "details", "attachments")
    result.details["parts"] = [{name: getattr(part, name) for name in fields} for part in parts]
    return result


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    """Yield what the parts may not have. Whether they are valid by their own types, the registry checks."""
    parts: list[tuple[FieldPath, Any]] = [
        (("assertions", index), part) for index, part in enumerate(values.get("assertions", []))
    ]
    if "assertion" in values:
        parts.append((("assertion",), values["assertion"]))
    for path, part in parts:
        for name in _NO_EFFECT:
            if name in part:
                yield (*path, name), "has no effect inside another assertion; give it to the outer one"


ALL_OF = EvaluatorType("all_of", _all_of, AllOfFields, _check_fields)
ANY_OF = EvaluatorType("any_of", _any_of, AnyOfFields, _check_fields)
NOT = EvaluatorType("not", _not, NotFields, _check_fields)
