"""A run as the steps that a person follows, each assertion beside the step it concerns. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from salvo.engine.jsonio.canonical import stable_text
from salvo.scenarios.analysis.assertion_targets import END, AssertionTarget, assertion_target
from salvo.scenarios.result import AgentRunResult, Cause, ToolCall, TraceEvent

StepKind = Literal["system", "message", "model", "tool", "event", "end"]


@dataclass(frozen=True, slots=True)
class TrajectoryStep:
    number: int
    """From 1."""
    kind: StepKind
    title: str
    """Of a tool, its name; of another event of the trace, its type."""
    text: str | None = None
    """What was said."""
    arguments: Any = None
    result: Any = None
    """What a tool answered; at the end, the final output; of another event, its data."""
    error: str | None = None
    took: float | None = None
    """Seconds, where they are known."""
    tokens: int | None = None
    call: int | None = None
    """Which of the run's tool calls this is, from 0."""
    assertions: list[int] = field(default_factory=list)
    """Which of the run's eval_results concern this step, from 0."""
    cut: dict[str, int] = field(default_factory=dict)
    """Fields that are cut short here, each with the characters it has in full, as JSON where it is no text."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    steps: list[TrajectoryStep]
    overall: list[int]
    """Which eval_results concern the run as a whole, or cannot be placed."""


def trajectory(result: AgentRunResult, scenario: Mapping[str, Any] | None = None) -> Trajectory:
    """`scenario` is the batch's, as it was resolved: what was asked, and what the assertions are about."""
    steps = [*_asked(scenario or {}), *_happened(result), _Unplaced(_end(result), END)]
    places = {step.place: number for number, step in enumerate(steps) if step.place is not None}
    concerned: dict[int, list[int]] = {}
    overall = []
    for index, concern in enumerate(_concerns(result, scenario or {})):
        at = places.get(concern) if concern is not None else None
        if at is None:
            overall.append(index)
        else:
            concerned.setdefault(at, []).append(index)
    return Trajectory(
        [replace(of.step, number=at + 1, assertions=concerned.get(at, [])) for at, of in enumerate(steps)], overall
    )


@dataclass(frozen=True, slots=True)
class _Unplaced:
    """A step that has no number yet, and what an assertion on it would name."""

    step: TrajectoryStep
    place: AssertionTarget | None = None


def _asked(scenario: Mapping[str, Any]) -> Iterator[_Unplaced]:
    texts: tuple[tuple[StepKind, str, str], ...] = (
        ("system", "System prompt", "system_prompt"),
        ("message", "User message", "user_message"),
    )
    for kind, title, name in texts:
        text = scenario.get(name)
        if isinstance(text, str) and text:
            yield _Unplaced(TrajectoryStep(0, kind, title, text=text))


def _happened(result: AgentRunResult) -> Iterator[_Unplaced]:
    """The trace, with the calls in their places; those that it does not tell of keep their order among the others."""
    met = _met(result.trace, result.tool_calls)
    untold = deque(index for index in range(len(result.tool_calls)) if index not in met.values())
    for number, event in enumerate(result.trace):
        index = met.get(number)
        if index is None:
            yield _Unplaced(_event(event), AssertionTarget("trace", number))
            continue
        while untold and untold[0] < index:
            yield _call(result.tool_calls, untold.popleft())
        yield _call(result.tool_calls, index)
    for index in untold:
        yield _call(result.tool_calls, index)


def _met(trace: Sequence[TraceEvent], calls: Sequence[ToolCall]) -> dict[int, int]:
    """Events that tell of a call, by name and arguments: the number of each with that of its call."""
    waiting: dict[str, deque[int]] = {}
    for index, call in enumerate(calls):
        waiting.setdefault(stable_text([call.name, call.arguments]), deque()).append(index)
    met = {}
    for number, event in enumerate(trace):
        if event.type == "tool":
            fitting = waiting.get(stable_text([event.data.get("name"), event.data.get("arguments")]))
            if fitting:
                met[number] = fitting.popleft()
    return met


def _call(calls: Sequence[ToolCall], index: int) -> _Unplaced:
    of = calls[index]
    step = TrajectoryStep(
        0,
        "tool",
        of.name,
        arguments=of.arguments,
        result=of.result,
        error=of.error,
        took=_known(of.seconds),
        call=index,
    )
    return _Unplaced(step, AssertionTarget("tool_calls", index))


def _event(event: TraceEvent) -> TrajectoryStep:
    data = event.data
    if event.type == "model" and isinstance(data.get("text"), str):
        tokens = data.get("tokens")
        return TrajectoryStep(
            0,
            "model",
            _asks_for(data.get("tools")),
            text=data["text"],
            took=_known(event.seconds),
            tokens=tokens if isinstance(tokens, int) else None,
        )
    if event.type == "tool" and isinstance(data.get("name"), str):
        error = data.get("error")
        return TrajectoryStep(
            0,
            "tool",
            data["name"],
            arguments=data.get("arguments"),
            result=data.get("result"),
            error=error if isinstance(error, str) else None,
            took=_known(event.seconds),
        )
    return TrajectoryStep(0, "event", event.type, result=data or None, took=_known(event.seconds))


def _asks_for(tools: Any) -> str:
    names = [name for name in tools if isinstance(name, str)] if isinstance(tools, list) else []
    return f"The model asks for {', '.join(names)}" if names else "The model answers"


def _known(seconds: float) -> float | None:
    """A program's tools are seen in its traffic alone, and nobody knows how long they took."""
    return seconds or None


_ENDS = {
    Cause.TURN_LIMIT: "The turn limit is reached",
    Cause.TIMEOUT: "The time is over",
    Cause.CONTEXT: "The model's context is full",
    Cause.REFUSAL: "The model refuses",
    Cause.LENGTH: "The answer is cut off by the limit on tokens",
    Cause.EXIT: "The program ends with an error",
    Cause.PROVIDER: "The provider fails",
    Cause.ADAPTER: "The agent's code fails",
}


def _end(result: AgentRunResult) -> TrajectoryStep:
    title = _ENDS.get(result.cause, "Final output") if result.cause else "Final output"
    return TrajectoryStep(0, "end", title, result=result.final_output, error=result.error)


def _concerns(result: AgentRunResult, scenario: Mapping[str, Any]) -> Iterator[AssertionTarget | None]:
    written = scenario.get("assertions")
    # In the scenario's order. Where they are not those that were judged, what they are about is not known.
    as_judged = (
        isinstance(written, list)
        and all(isinstance(of, Mapping) for of in written)
        and [of.get("type") for of in written] == [of.type for of in result.eval_results]
    )
    for index, judged in enumerate(result.eval_results):
        yield assertion_target(judged, written[index] if as_judged and isinstance(written, list) else None, result)
