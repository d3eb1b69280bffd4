"""`tool_sequence`: which tools the agent asked for, in which order, with which arguments.

exact       these calls and no others, in this order
subset      these calls in this order; others may stand before, between and behind (also called in_order)
any_order   these calls in whatever order, each as often as it is listed; no others, unless `allow_extra` is true

A call counts whether or not the tool answered with an error: it is what the agent decided to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.runtime.threads import in_thread
from salvo.engine.text.messages import did_you_mean
from salvo.scenarios.evaluators import arguments
from salvo.scenarios.evaluators.base import EvalServices, Evaluate, EvaluatorType, LoadObject
from salvo.scenarios.evaluators.values import one_of
from salvo.scenarios.result import AgentRunResult, EvalResult, ToolCall
from salvo.scenarios.spec.schema import Assertion, FileModel, Scenario

Mode: TypeAlias = Literal["exact", "subset", "in_order", "any_order"]


class ExpectedCall(FileModel):
    """A tool that is asked for, perhaps with certain arguments."""

    name: str = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="Arguments that the call must have; others may be there. A value may be a matcher: "
        "{regex: …}, {any: true} or {approx: 9.99, tolerance: 0.01}.",
    )

    def differs_from(self, call: ToolCall) -> str:
        """The first difference of a call of this tool; empty where it is as expected."""
        return arguments.difference(self.arguments, call.arguments) if self.arguments else ""

    def is_met_by(self, call: ToolCall) -> bool:
        return call.name == self.name and not self.differs_from(call)

    def as_written(self) -> str | dict[str, Any]:
        return {"name": self.name, "arguments": self.arguments} if self.arguments else self.name


def _named(given: Any) -> Any:
    return {"name": given} if isinstance(given, str) else given


class ToolSequenceFields(FileModel):
    """Which tools the agent asked for."""

    expected: list[Annotated[ExpectedCall, BeforeValidator(_named, json_schema_input_type=str | ExpectedCall)]] = Field(
        description="The calls, each a tool's name or {name, arguments}."
    )
    mode: Annotated[Mode, one_of(Mode)] = Field(
        "exact",
        description="exact: these calls and no others, in this order. subset or in_order: in this order, others may "
        "stand between. any_order: in whatever order, no others.",
    )
    allow_extra: bool = Field(False, description="With any_order: calls that are not listed are allowed.")


def _evaluator(_: EvalServices) -> Evaluate:
    def evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult | Awaitable[EvalResult]:
        wanted = ToolSequenceFields.model_validate(assertion.fields)
        if any(arguments.has_regex(call.arguments) for call in wanted.expected):
            # A pattern may take its time over a long argument.
            return in_thread(_judged, wanted, result.tool_calls)
        return _judged(wanted, result.tool_calls)

    return evaluate


def _judged(wanted: ToolSequenceFields, calls: Sequence[ToolCall]) -> EvalResult:
    left = departure(wanted, calls)
    with_arguments = any(call.arguments for call in wanted.expected)
    return EvalResult.judged(
        left is None,
        left.message if left else "",
        expected=[call.as_written() for call in wanted.expected],
        actual=[{"name": call.name, "arguments": call.arguments} if with_arguments else call.name for call in calls],
    )


class Departure(NamedTuple):
    """Where the calls leave what was expected."""

    message: str
    call: int | None = None
    """Which of them does, from 0; None where it is one that was not made."""


def departure(wanted: ToolSequenceFields, calls: Sequence[ToolCall]) -> Departure | None:
    """The first; None where all is as expected."""
    if wanted.mode == "exact":
        return _exactly(wanted.expected, calls)
    if wanted.mode == "any_order":
        return _in_any_order(wanted.expected, calls, wanted.allow_extra)
    return _in_order(wanted.expected, calls)


def _exactly(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> Departure | None:
    for number, (wanted, call) in enumerate(zip(expected, calls, strict=False), start=1):
        if call.name != wanted.name:
            return Departure(f"expected {wanted.name} as call {number}, got {call.name}", number - 1)
        if different := wanted.differs_from(call):
            return Departure(f"expected {wanted.name} as call {number} with {different}", number - 1)
    if len(calls) < len(expected):
        return Departure(f"expected {expected[len(calls)].name} as call {len(calls) + 1}, but {_ended(len(calls))}")
    if len(calls) > len(expected):
        return Departure(f"expected no call after {len(expected)}, got {calls[len(expected)].name}", len(expected))
    return None


def _in_order(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> Departure | None:
    """Taking the first call that fits never spoils a later one, so no other way need be tried."""
    reached = 0
    for wanted in expected:
        fits = (place for place in range(reached, len(calls)) if wanted.is_met_by(calls[place]))
        place = next(fits, None)
        if place is None:
            after = f" after call {reached} ({calls[reached - 1].name})" if reached else ""
            why = _why_none(wanted, list(enumerate(calls, 1))[reached:])
            return Departure(f"expected {wanted.name}{after}, {why.message}", why.call)
        reached = place + 1
    return None


def _in_any_order(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall], allow_extra: bool) -> Departure | None:
    taken = _paired(expected, calls)
    unmet = next((wanted for place, wanted in enumerate(expected) if place not in taken.values()), None)
    left = [(number, call) for number, call in enumerate(calls, start=1) if number - 1 not in taken]
    if unmet is not None:
        times = sum(wanted == unmet for wanted in expected)
        often = f" {times} times" if times > 1 else ""
        why = _why_none(unmet, left, again=times > 1)
        return Departure(f"expected {unmet.name}{often}, {why.message}", why.call)
    if left and not allow_extra:
        number, call = left[0]
        return Departure(f"expected no other call, got {call.name} as call {number}", number - 1)
    return None


def _paired(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> dict[int, int]:
    """As many calls as possible, each with the expectation that it meets (Kuhn's augmenting paths).

    First come first served will not do: `pay` may take the one call that `pay {amount: 5}` needs.
    """
    fits = [[place for place, call in enumerate(calls) if wanted.is_met_by(call)] for wanted in expected]
    taken: dict[int, int] = {}

    def place_for(start: int) -> None:
        # A way back is kept instead of recursing, because an agent may make thousands of calls.
        came_from: dict[int, int] = {}
        waiting = [start]
        while waiting:
            wanted = waiting.pop()
            for call in fits[wanted]:
                if call in came_from:
                    continue
                came_from[call] = wanted
                if call not in taken:
                    _hand_over(call, came_from, taken, start)
                    return
                waiting.append(taken[call])

    for number in range(len(expected)):
        place_for(number)
    return taken


def _hand_over(call: int, came_from: Mapping[int, int], taken: dict[int, int], start: int) -> None:
    """Along the way back, each expectation takes the call it found and frees the one it had."""
    while True:
        wanted = came_from[call]
        had = next((other for other, owner in taken.items() if owner == wanted), None)
        taken[call] = wanted
        if wanted == start or had is None:
            return
        del taken[had]
        call = had


def _why_none(wanted: ExpectedCall, calls: Sequence[tuple[int, ToolCall]], *, again: bool = False) -> Departure:
    """Why none of the calls that were left is the one that was wanted."""
    alike = next(((number, call) for number, call in calls if call.name == wanted.name), None)
    if alike is not None:
        number, call = alike
        return Departure(f"but call {number} differs: {wanted.differs_from(call)}", number - 1)
    return Departure(f"but it was not called{' again' if again else ''}" if calls else "but there was no other call")


def _ended(count: int) -> str:
    return f"the agent made only {count} {'call' if count == 1 else 'calls'}" if count else "no tool was called"


def _check(scenario: Scenario, given: Mapping[str, Any], _: LoadObject) -> list[tuple[str | FieldPath, str]]:
    return list(_problems(scenario, ToolSequenceFields.model_validate(given)))


def _problems(scenario: Scenario, wanted: ToolSequenceFields) -> Iterator[tuple[str | FieldPath, str]]:
    tools = [tool if isinstance(tool, str) else tool.name for tool in scenario.tools]
    # An adapter of the user's own may have tools of its own, which no file lists.
    are_all = bool(tools) or scenario.adapter in ("openai", "anthropic")
    for place, call in enumerate(wanted.expected):
        if are_all and call.name not in tools:
            yield ("expected", place), f'The scenario has no tool "{call.name}"{did_you_mean(call.name, tools)}'
        for problem in arguments.problems(call.arguments):
            yield ("expected", place), f"{call.name}: {problem}"
    if wanted.mode in ("subset", "in_order") and not wanted.expected:
        yield "expected", f"An empty list says nothing with mode {wanted.mode}. That no tool is called is mode exact."
    if wanted.mode == "exact" and wanted.allow_extra:
        yield "allow_extra", "allow_extra does not go with mode exact. Other calls are allowed with mode subset."


TYPE = EvaluatorType("tool_sequence", _evaluator, ToolSequenceFields, _check)
