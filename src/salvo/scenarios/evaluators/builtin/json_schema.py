"""`json_schema`: a value of the run is valid by a JSON Schema.

The schema and the value may come from others, so a validation that could take long runs in a worker process with a
time limit. If it does not finish, the assertion is unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from salvo.engine.jsonio.json_schema import check, problems_in_time
from salvo.engine.text.formatting import first_lines
from salvo.errors import InputError
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.builtin.jmespath import path_errors, search, short_value
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

_MOST_VIOLATIONS = 5


class JsonSchemaFields(FileModel):
    """A value of the run is valid by a JSON Schema."""

    schema_: dict[str, Any] = Field(
        alias="schema", description="The JSON Schema (draft 2020-12 unless it says another)."
    )
    path: str = Field("final_output", min_length=1, description="A JMESPath expression for the value to validate.")


async def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    fields = assertion.typed_fields(JsonSchemaFields)
    match = await search(fields.path, result)
    violations = await problems_in_time(fields.schema_, match.value)
    missing = f"; expected a value at {fields.path}, {match.note}" if violations and match.value is None else ""
    message = "; ".join(first_lines(violations, _MOST_VIOLATIONS)) + missing
    return EvalResult.judged(not violations, message, expected=fields.schema_, actual=short_value(match.value))


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    fields = JsonSchemaFields.model_validate(values)
    yield from (("path", error) for error in path_errors(fields.path))
    try:
        check(fields.schema_)
    except InputError as error:
        yield "schema", str(error)


TYPE = EvaluatorType("json_schema", _evaluate, JsonSchemaFields, _check_fields)
