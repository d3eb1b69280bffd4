"""Where failing and passing runs diverge: the step at which failing runs leave the path of passing ones. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from salvo.engine.text.messages import excerpt
from salvo.records import record
from salvo.scenarios.result import AgentRunResult, Cause, ToolCall, TraceEvent

LEAST = 0.25
"""How much larger the share of failing runs that leave the path at a step must be than that of passing runs."""
_LENGTH = 120


class Step(NamedTuple):
    """One step of a run, from the coarse to the detailed."""

    what: str
    outcome: str = ""
    detail: str = ""


@record
class ToolPath:
    """The steps of a run. The last one is how it ended."""

    run_id: str
    passed: bool
    steps: tuple[Step, ...]


_PathsByStep: TypeAlias = dict[tuple[str, ...], list[ToolPath]]


@record
class Branch:
    """What most of the failing, or of the passing, runs did at the step, with one of them as an example."""

    did: str
    count: int
    of: int
    run_id: str


@record
class Divergence:
    step: int
    """From 1."""
    passing: Branch
    failing: Branch


_DEPTHS = (1, 2, 3)
"""How much of a step is compared: which tools, then their errors, then their arguments. The least with which the runs
diverge is the easiest to understand."""


def tool_path(result: AgentRunResult) -> ToolPath:
    """Return the tool calls of a run, or the events of its trace if it lists no calls, and its end.

    Those of a conversation are in its turns, between what the user said and what the agent answered.
    """
    if not result.turns:
        return ToolPath(result.run_id, result.passed, (*_actions(result.tool_calls, result.trace), _end(result)))
    steps: list[Step] = []
    for turn in result.turns:
        message = Step("get the message", detail=excerpt(turn.user, _LENGTH))
        answer = Step("answer", detail=excerpt(turn.output, _LENGTH))
        steps += [message, *_actions(turn.tool_calls, turn.trace), answer]
    return ToolPath(result.run_id, result.passed, (*steps[:-1], _end(result)))


def _actions(calls: Sequence[ToolCall], trace: Sequence[TraceEvent]) -> list[Step]:
    return [_call(call) for call in calls] or [
        Step(f"{event.type} {event.data.get('name', '')}".strip(), detail=excerpt(event.data, _LENGTH))
        for event in trace
        if event.type != "model"
    ]


def find_divergence(paths: Iterable[ToolPath]) -> Divergence | None:
    """Return None if there are no passing or no failing runs, or if their steps do not differ."""
    every = list(paths)
    passing, failing = [path for path in every if path.passed], [path for path in every if not path.passed]
    if not passing or not failing:
        return None
    return next(filter(None, (_divergence(passing, failing, depth) for depth in _DEPTHS)), None)


def nearest(path: ToolPath, others: Iterable[ToolPath]) -> ToolPath | None:
    """Return the path that has the longest beginning in common with this one; the first of several."""
    return max(others, key=lambda other: _shared_steps(path, other), default=None)


def _shared_steps(a: ToolPath, b: ToolPath) -> tuple[int, ...]:
    """Return how many steps two paths have in common at their beginning, at each depth."""
    pairs = list(zip(a.steps, b.steps, strict=False))
    return tuple(
        next((index for index, (one, other) in enumerate(pairs) if one[:depth] != other[:depth]), len(pairs))
        for depth in _DEPTHS
    )


def _divergence(passing: Sequence[ToolPath], failing: Sequence[ToolPath], depth: int) -> Divergence | None:
    """Follow the path of most passing runs, and return the first step at which the most failing runs leave it."""
    total_passing, total_failing = len(passing), len(failing)
    largest = 0.0
    divergence = None
    for number in range(max(len(path.steps) for path in passing)):
        by_step, failing_by_step = _by_step(passing, number, depth), _by_step(failing, number, depth)
        if not by_step or not failing_by_step:
            break
        common = _most_common(by_step)
        off_passing = sum(len(paths) for step, paths in by_step.items() if step != common)
        passing, failing = by_step[common], failing_by_step.pop(common, [])
        off_failing = sum(map(len, failing_by_step.values()))
        difference = off_failing / total_failing - off_passing / total_passing
        if difference >= LEAST and difference > largest:
            largest = difference
            divergence = Divergence(
                step=number + 1,
                passing=_branch(by_step, total_passing),
                failing=_branch(failing_by_step, total_failing),
            )
    return divergence


def _by_step(paths: Sequence[ToolPath], number: int, depth: int) -> _PathsByStep:
    """Group the paths that reach a step by what they do there."""
    by_step: _PathsByStep = {}
    for path in paths:
        if len(path.steps) > number:
            by_step.setdefault(path.steps[number][:depth], []).append(path)
    return by_step


def _most_common(by_step: _PathsByStep) -> tuple[str, ...]:
    return min(by_step, key=lambda step: (-len(by_step[step]), step))


def _branch(by_step: _PathsByStep, total: int) -> Branch:
    common = _most_common(by_step)
    step, paths = Step(*common), by_step[common]
    detail = f" {step.detail}" if step.detail else ""
    error = f", which returns an error: {step.outcome}" if step.outcome else ""
    return Branch(f"{step.what}{detail}{error}", len(paths), total, paths[0].run_id)


def _call(call: ToolCall) -> Step:
    error = "" if call.error is None else excerpt(call.error, _LENGTH)
    return Step(f"call {call.name}", error, excerpt(call.arguments, _LENGTH))


_ENDS = {
    Cause.TURN_LIMIT: "reach the turn limit",
    Cause.TIMEOUT: "run out of time",
    Cause.CONTEXT: "fill the model's context",
    Cause.REFUSAL: "refuse",
    Cause.LENGTH: "are cut off by the limit on tokens",
}


def _end(result: AgentRunResult) -> Step:
    if result.cause is not None and result.cause in _ENDS:
        return Step(_ENDS[result.cause])
    return Step("answer", detail=excerpt(result.final_output, _LENGTH))
