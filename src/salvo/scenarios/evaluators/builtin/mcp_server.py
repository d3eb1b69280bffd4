"""`mcp_server`: what the MCP servers under test list, and how they answer. For `adapter: mcp`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from salvo.engine.text.messages import excerpt
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.result import MCP, AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

_MAX_SHOWN = 5
_LENGTH = 100


class McpServerFields(FileModel):
    """What the servers under test must list and answer."""

    lists: list[str] | None = Field(None, min_length=1, description="Tools that must be listed.")
    only: bool = Field(default=False, description="With lists: no other tool may be listed.")
    valid_schemas: bool = Field(
        default=False, description="Every tool's name and schemas must be valid, and every answer fit its outputSchema."
    )
    no_errors: bool = Field(default=False, description="No call of `calls` may be answered with an error.")
    rejects_bad_arguments: bool = Field(
        default=False, description="Every call with bad arguments must be answered with an error."
    )
    max_call_seconds: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds that each call may take."
    )

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.model_fields_set - {"only"}:
            raise ValueError(f"needs one of {', '.join(name for name in type(self).model_fields if name != 'only')}")
        return self


def _evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices) -> EvalResult:
    fields = assertion.typed_fields(McpServerFields)
    output = result.final_output if isinstance(result.final_output, dict) else {}
    violations = list(_violations(fields, output))
    more = len(violations) - _MAX_SHOWN
    lines = [*violations[:_MAX_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return EvalResult.judged(not violations, "; ".join(lines), actual=violations or None)


def _violations(fields: McpServerFields, output: Mapping[str, Any]) -> Iterator[str]:
    tools, calls, bad_calls = output.get("tools", []), output.get("calls", []), output.get("bad_arguments", [])
    if fields.lists is not None:
        yield from _list_violations(fields.lists, [tool["name"] for tool in tools], only=fields.only)
    if fields.valid_schemas:
        yield from (f"{tool['name']}: {problem}" for tool in tools for problem in tool["problems"])
        yield from (
            f"{_call_text(call)} does not fit its outputSchema: {problem}"
            for call in calls
            for problem in call["problems"]
        )
    if fields.no_errors:
        yield from (f"{_call_text(call)}: {call['error']}" for call in calls if call["error"] is not None)
    if fields.rejects_bad_arguments:
        yield from (f"{_call_text(call)} was accepted: {call['wrong']}" for call in bad_calls if not call["rejected"])
    limit = fields.max_call_seconds
    if limit is not None:
        yield from (
            f"{_call_text(call)} took {call['seconds']:.3g} s, more than {limit:g} s"
            for call in (*calls, *bad_calls)
            if call["seconds"] > limit
        )


def _list_violations(expected: list[str], names: list[str], *, only: bool) -> Iterator[str]:
    yield from (f"{name} is not listed" for name in expected if name not in names)
    if only:
        yield from (f"{name} is listed" for name in names if name not in expected)


def _call_text(call: Mapping[str, Any]) -> str:
    return f"{call['tool']} {excerpt(call['arguments'], _LENGTH)}"


def _check(scenario: Scenario, values: Mapping[str, Any], _: LoadObject) -> FieldMessages:
    fields = McpServerFields.model_validate(values)
    if scenario.adapter != MCP:
        yield "type", "mcp_server is for scenarios with the adapter mcp."
        return
    if fields.only and fields.lists is None:
        yield "only", "only goes with lists."
    if fields.rejects_bad_arguments and not scenario.adapter_options.get("bad_arguments"):
        yield "rejects_bad_arguments", "No calls with bad arguments are made: set adapter_options.bad_arguments."
    for name in ("no_errors", "max_call_seconds"):
        if getattr(fields, name) and not scenario.adapter_options.get("calls"):
            yield name, "No calls are made: list them in adapter_options.calls."


TYPE = EvaluatorType("mcp_server", _evaluate, McpServerFields, _check)
