"""`tool_sequence`: which tools the agent called, in which order, with which arguments.

exact       these calls and no others, in this order
subset      these calls in this order; others may come before, between and after them (also called in_order)
any_order   these calls in any order, each as often as it is listed; no others, unless `allow_extra` is true

A call counts even if the tool returned an error: the agent decided to make it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.messages import did_you_mean
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.builtin.argument_matchers import first_difference, has_regex, matcher_errors
from salvo.scenarios.result import COMMAND, PROVIDER_ADAPTERS, AgentRunResult, EvalResult, ToolCall
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

Mode: TypeAlias = Literal["exact", "subset", "in_order", "any_order"]


class ExpectedCall(FileModel):
    """A call of a tool, perhaps with certain arguments."""

    name: str = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="Arguments that the call must have; others may be there. A value may be a matcher: "
        "{regex: …}, {any: true} or {approx: 9.99, tolerance: 0.01}.",
    )

    def difference(self, call: ToolCall) -> str:
        """Return the first difference of a call of this tool; empty if it is as expected."""
        return first_difference(self.arguments, call.arguments) if self.arguments else ""

    def matches(self, call: ToolCall) -> bool:
        return call.name == self.name and not self.difference(call)

    def as_json(self) -> str | dict[str, Any]:
        return {"name": self.name, "arguments": self.arguments} if self.arguments else self.name


def _as_mapping(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


CallOrName: TypeAlias = Annotated[ExpectedCall, BeforeValidator(_as_mapping, json_schema_input_type=str | ExpectedCall)]


class ToolSequenceFields(FileModel):
    """Which tools the agent called."""

    expected: list[CallOrName] = Field(description="The calls, each a tool's name or {name, arguments}.")
    mode: Mode = Field(
        "exact",
        description="exact: these calls and no others, in this order. subset or in_order: in this order, others may "
        "come between. any_order: in any order, no others.",
    )
    allow_extra: bool = Field(False, description="With any_order: calls that are not listed are allowed.")


def _evaluate(
    _: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices
) -> EvalResult | Awaitable[EvalResult]:
    fields = assertion.typed_fields(ToolSequenceFields)
    return judge_calls(fields.expected, partial(_result, fields, result.tool_calls))


def judge_calls(
    expected: Iterable[ExpectedCall], judge: Callable[[], EvalResult]
) -> EvalResult | Awaitable[EvalResult]:
    """Judge calls by those that are expected: in a thread if they have patterns, which a long argument makes slow."""
    return in_killable_thread(judge) if any(has_regex(call.arguments) for call in expected) else judge()


def _result(fields: ToolSequenceFields, calls: Sequence[ToolCall]) -> EvalResult:
    mismatch = first_mismatch(fields, calls)
    with_arguments = any(call.arguments for call in fields.expected)
    return EvalResult.judged(
        mismatch is None,
        mismatch.message if mismatch else "",
        expected=[call.as_json() for call in fields.expected],
        actual=[{"name": call.name, "arguments": call.arguments} if with_arguments else call.name for call in calls],
    )


class SequenceMismatch(NamedTuple):
    message: str
    call_index: int | None = None
    """The index of the call that is not as expected; None if a call is missing."""


def first_mismatch(fields: ToolSequenceFields, calls: Sequence[ToolCall]) -> SequenceMismatch | None:
    """Return where the calls first differ from what is expected; None if they do not."""
    if fields.mode == "exact":
        return _mismatch_exact(fields.expected, calls)
    if fields.mode == "any_order":
        return _mismatch_any_order(fields.expected, calls, fields.allow_extra)
    return _mismatch_in_order(fields.expected, calls)


def _mismatch_exact(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> SequenceMismatch | None:
    for index, (expectation, call) in enumerate(zip(expected, calls, strict=False)):
        name = expectation.name
        if call.name != name:
            return SequenceMismatch(f"expected {name} as call {index + 1}, got {call.name}", index)
        if difference := expectation.difference(call):
            return SequenceMismatch(f"expected {name} as call {index + 1} with {difference}", index)
    if len(calls) < len(expected):
        missing = expected[len(calls)].name
        count = f"the agent made only {pluralize(len(calls), 'call')}" if calls else "no tool was called"
        return SequenceMismatch(f"expected {missing} as call {len(calls) + 1}, but {count}")
    if len(calls) > len(expected):
        extra = calls[len(expected)].name
        return SequenceMismatch(f"expected no call after {len(expected)}, got {extra}", len(expected))
    return None


def _mismatch_in_order(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> SequenceMismatch | None:
    """Take the first call that matches each expectation; this never prevents a later match."""
    start = 0
    for expectation in expected:
        index = next((index for index in range(start, len(calls)) if expectation.matches(calls[index])), None)
        if index is None:
            after = f" after call {start} ({calls[start - 1].name})" if start else ""
            reason = _why_unmatched(expectation, list(enumerate(calls))[start:])
            return reason._replace(message=f"expected {expectation.name}{after}, {reason.message}")
        start = index + 1
    return None


def _mismatch_any_order(
    expected: Sequence[ExpectedCall], calls: Sequence[ToolCall], allow_extra: bool
) -> SequenceMismatch | None:
    pairs = _pair(expected, calls)
    unmatched = next((expectation for number, expectation in enumerate(expected) if number not in pairs.values()), None)
    other_calls = [(index, call) for index, call in enumerate(calls) if index not in pairs]
    if unmatched is not None:
        times = sum(expectation == unmatched for expectation in expected)
        count = f" {times} times" if times > 1 else ""
        reason = _why_unmatched(unmatched, other_calls, again=times > 1)
        return reason._replace(message=f"expected {unmatched.name}{count}, {reason.message}")
    if other_calls and not allow_extra:
        index, call = other_calls[0]
        return SequenceMismatch(f"expected no other call, got {call.name} as call {index + 1}", index)
    return None


def _pair(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> dict[int, int]:
    """Pair as many calls as possible with an expectation that each matches (Kuhn's augmenting paths).

    Pairing each call with the first expectation is not enough: `pay` may take the only call that `pay {amount: 5}`
    needs. Returns the number of the expectation by the index of the call.
    """
    candidates = [[index for index, call in enumerate(calls) if expectation.matches(call)] for expectation in expected]
    pairs: dict[int, int] = {}

    def pair(start: int) -> None:
        # A search with a stack instead of recursion, because an agent may make thousands of calls.
        found_by: dict[int, int] = {}
        stack = [start]
        while stack:
            expectation = stack.pop()
            for call in candidates[expectation]:
                if call in found_by:
                    continue
                found_by[call] = expectation
                if call not in pairs:
                    _reassign(call, found_by, pairs, start)
                    return
                stack.append(pairs[call])

    for number in range(len(expected)):
        pair(number)
    return pairs


def _reassign(call: int, found_by: Mapping[int, int], pairs: dict[int, int], start: int) -> None:
    """Walk back to the start: each expectation takes the call it found and frees the call it had."""
    while True:
        expectation = found_by[call]
        previous = next((other for other, owner in pairs.items() if owner == expectation), None)
        pairs[call] = expectation
        if expectation == start or previous is None:
            return
        del pairs[previous]
        call = previous


def _why_unmatched(
    expectation: ExpectedCall, calls: Sequence[tuple[int, ToolCall]], *, again: bool = False
) -> SequenceMismatch:
    """Return why none of the remaining calls matches the expectation."""
    for index, call in calls:
        if call.name == expectation.name:
            return SequenceMismatch(f"but call {index + 1} differs: {expectation.difference(call)}", index)
    if not calls:
        return SequenceMismatch("but there was no other call")
    return SequenceMismatch(f"but it was not called{' again' if again else ''}")


def call_errors(scenario: Scenario, field: str, calls: Sequence[ExpectedCall]) -> FieldMessages:
    """Yield the tools that the scenario does not have, and the matchers that are wrong."""
    tools = [tool if isinstance(tool, str) else tool.name for tool in scenario.tools]
    # A user's own adapter, a program and an MCP server may have tools that the file does not list.
    has_others = bool(scenario.mcp_servers) or scenario.adapter == COMMAND
    is_complete = not has_others and (bool(tools) or scenario.adapter in PROVIDER_ADAPTERS)
    for index, call in enumerate(calls):
        if is_complete and call.name not in tools:
            yield (field, index), f'The scenario has no tool "{call.name}"{did_you_mean(call.name, tools)}'
        for error in matcher_errors(call.arguments):
            yield (field, index), f"{call.name}: {error}"


def _check_fields(scenario: Scenario, values: Mapping[str, Any], _: LoadObject) -> FieldMessages:
    fields = ToolSequenceFields.model_validate(values)
    yield from call_errors(scenario, "expected", fields.expected)
    if fields.mode in ("subset", "in_order") and not fields.expected:
        yield "expected", f"An empty list says nothing with mode {fields.mode}. That no tool is called is mode exact."
    if fields.mode == "exact" and fields.allow_extra:
        yield "allow_extra", "allow_extra does not go with mode exact. Other calls are allowed with mode subset."


TYPE = EvaluatorType("tool_sequence", _evaluate, ToolSequenceFields, _check_fields)
