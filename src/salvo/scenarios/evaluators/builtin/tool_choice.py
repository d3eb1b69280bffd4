"""`tool_choice`: for how many prompts a model chose the right tool of a server. For `adapter: mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from salvo.engine.text.formatting import pluralize
from salvo.engine.text.messages import excerpt
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.values import at_most
from salvo.scenarios.result import MCP, AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario, Share

_MAX_SHOWN = 5
_LENGTH = 60


class ToolChoiceFields(FileModel):
    """For how many prompts the model must choose the right tool."""

    min_share: Share = Field(1.0, description="The share of the prompts for which the right tool must be chosen.")


def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    fields = assertion.typed_fields(ToolChoiceFields)
    output = result.final_output if isinstance(result.final_output, dict) else {}
    choices: list[dict[str, Any]] = output.get("choices", [])
    errors = [choice for choice in choices if not choice["right"]]
    share = 1 - len(errors) / len(choices) if choices else 0.0
    passed = at_most(fields.min_share, share)
    mistakes = "; ".join(map(_mistake, errors[:_MAX_SHOWN]))
    message = (
        "" if not errors else f"{len(errors)} of {pluralize(len(choices), 'prompt')} led to another tool: {mistakes}"
    )
    return EvalResult.judged(passed, message, expected=fields.min_share, actual=share)


def _mistake(choice: Mapping[str, Any]) -> str:
    chosen = choice["chosen"][0] if choice["chosen"] else "no tool"
    decoy = ", a decoy," if choice["is_decoy"] else ""
    if choice.get("is_offered") is False:
        decoy = ", which was not offered,"
    expected = " or ".join(choice["expected"]) or "no tool"
    return f"{excerpt(choice['prompt'], _LENGTH)} to {chosen}{decoy} instead of {expected}"


def _check(scenario: Scenario, _: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    if scenario.adapter != MCP:
        yield "type", "tool_choice is for scenarios with the adapter mcp."
    elif not scenario.adapter_options.get("prompts"):
        yield "type", "There are no prompts: list them in adapter_options.prompts."


TYPE = EvaluatorType("tool_choice", _evaluate, ToolChoiceFields, _check)
