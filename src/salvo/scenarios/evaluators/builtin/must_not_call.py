"""`must_not_call`: tools that the agent may not call, or not with certain arguments.

A call counts even if the tool returned an error: the agent decided to make it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from salvo.engine.text.messages import excerpt
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.builtin.tool_sequence import CallOrName, ExpectedCall, call_errors, judge_calls
from salvo.scenarios.result import AgentRunResult, EvalResult, ToolCall
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario


class MustNotCallFields(FileModel):
    """Tools that the agent must not call."""

    tools: list[CallOrName] = Field(
        min_length=1,
        description="Each a tool's name, or {name, arguments} for calls with these arguments only.",
    )


def _evaluate(
    _: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices
) -> EvalResult | Awaitable[EvalResult]:
    fields = assertion.typed_fields(MustNotCallFields)
    return judge_calls(fields.tools, partial(_result, fields, result.tool_calls))


def first_forbidden(fields: MustNotCallFields, calls: Sequence[ToolCall]) -> tuple[int, ExpectedCall] | None:
    """Return the index of the first call that must not be there, and which of the tools it is."""
    for index, call in enumerate(calls):
        for tool in fields.tools:
            if tool.matches(call):
                return index, tool
    return None


def _result(fields: MustNotCallFields, calls: Sequence[ToolCall]) -> EvalResult:
    message = ""
    if (forbidden := first_forbidden(fields, calls)) is not None:
        index, tool = forbidden
        arguments = f" with {excerpt(calls[index].arguments)}" if tool.arguments else ""
        message = f"call {index + 1} is {tool.name}{arguments}, which must not be called"
    return EvalResult.judged(
        not message,
        message,
        expected={"no_call_of": [call.as_json() for call in fields.tools]},
        actual=[call.name for call in calls],
    )


def _check_fields(scenario: Scenario, values: Mapping[str, Any], _: LoadObject) -> FieldMessages:
    return call_errors(scenario, "tools", MustNotCallFields.model_validate(values).tools)


TYPE = EvaluatorType("must_not_call", _evaluate, MustNotCallFields, _check_fields)
