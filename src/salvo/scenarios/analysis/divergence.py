"""Where failing and passing runs diverge: the step at which failing runs leave the path of passing ones. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from salvo.engine.text.messages import excerpt
from salvo.scenarios.result import AgentRunResult, Cause, ToolCall

LEAST = 0.25
"""How much larger the share of failing runs that leave the path at a step must be than that of passing runs."""
_LENGTH = 120


class Step(NamedTuple):
    """One step of a run, from the coarse to the detailed."""

    what: str
    outcome: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToolPath:
    """The steps of a run. The last one is how it ended."""

    run_id: str
    passed: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """What most of the failing, or of the passing, runs did at the step, with one of them as an example."""

    did: str
    count: int
    of: int
    run_id: str


@dataclass(frozen=True, slots=True)
class Divergence:
    step: int
    """From 1."""
    passing: Branch
    failing: Branch


_View: TypeAlias = Callable[[Step], tuple[str, ...]]
# From coarse to fine: which tools, then their errors, then their arguments. The coarsest view in which the runs diverge
# is the easiest to understand.
_VIEWS: tuple[_View, ...] = (
    lambda step: (step.what,),
    lambda step: (step.what, step.outcome),
    lambda step: (step.what, step.outcome, step.detail),
)


def tool_path(result: AgentRunResult) -> ToolPath:
    """Return the tool calls of a run, or the events of its trace if it lists no calls, and its end."""
    calls = [_call(call) for call in result.tool_calls] or [
        Step(f"{event.type} {event.data.get('name', '')}".strip(), detail=excerpt(event.data, _LENGTH))
        for event in result.trace
        if event.type != "model"
    ]
    return ToolPath(result.run_id, result.passed, (*calls, _end(result)))


def find_divergence(paths: Iterable[ToolPath]) -> Divergence | None:
    """Return None if there are no passing or no failing runs, or if their steps do not differ."""
    every = list(paths)
    passing, failing = [path for path in every if path.passed], [path for path in every if not path.passed]
    if not passing or not failing:
        return None
    return next(filter(None, (_divergence(passing, failing, view) for view in _VIEWS)), None)


def nearest(path: ToolPath, others: Iterable[ToolPath]) -> ToolPath | None:
    """Return the path that has the longest beginning in common with this one; the first of several."""
    return max(others, key=lambda other: _shared_steps(path, other), default=None)


def _shared_steps(a: ToolPath, b: ToolPath) -> tuple[int, ...]:
    """Return how many steps two paths have in common at their beginning, in each view."""
    return tuple(_common_prefix([view(step) for step in a.steps], [view(step) for step in b.steps]) for view in _VIEWS)


def _common_prefix(a: Sequence[tuple[str, ...]], b: Sequence[tuple[str, ...]]) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(a), len(b)))


def _divergence(passing: Sequence[ToolPath], failing: Sequence[ToolPath], view: _View) -> Divergence | None:
    """Follow the path of most passing runs, and return the first step at which the most failing runs leave it."""
    total_passing, total_failing = len(passing), len(failing)
    largest = 0.0
    divergence = None
    for number in range(max(len(path.steps) for path in passing)):
        here_passing, here_failing = _reaching(passing, number), _reaching(failing, number)
        if not here_passing or not here_failing:
            break
        common = _most_common(here_passing, number, view)
        on_passing, off_passing = _split(here_passing, number, view, common)
        on_failing, off_failing = _split(here_failing, number, view, common)
        difference = len(off_failing) / total_failing - len(off_passing) / total_passing
        if difference >= LEAST and difference > largest:
            largest = difference
            divergence = Divergence(
                step=number + 1,
                passing=_branch(here_passing, number, view, total_passing),
                failing=_branch(off_failing, number, view, total_failing),
            )
        passing, failing = on_passing, on_failing
    return divergence


def _reaching(paths: Sequence[ToolPath], number: int) -> list[ToolPath]:
    return [path for path in paths if len(path.steps) > number]


def _split(
    paths: Sequence[ToolPath], number: int, view: _View, common: tuple[str, ...]
) -> tuple[list[ToolPath], list[ToolPath]]:
    """Return the paths that take the common step, and those that do not."""
    on = [path for path in paths if view(path.steps[number]) == common]
    off = [path for path in paths if view(path.steps[number]) != common]
    return on, off


def _most_common(paths: Sequence[ToolPath], number: int, view: _View) -> tuple[str, ...]:
    counts = Counter(view(path.steps[number]) for path in paths)
    return min(counts, key=lambda key: (-counts[key], key))


def _branch(paths: Sequence[ToolPath], number: int, view: _View, total: int) -> Branch:
    common = _most_common(paths, number, view)
    on, _ = _split(paths, number, view, common)
    return Branch(_describe(common), len(on), total, on[0].run_id)


def _describe(step: tuple[str, ...]) -> str:
    what, outcome, detail = (*step, "", "")[:3]
    return what + (f" {detail}" if detail else "") + (f", which returns an error: {outcome}" if outcome else "")


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
