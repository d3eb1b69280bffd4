"""Where failing and passing runs part: the step at which failing runs leave the way that passing ones go. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from salvo.engine.text.messages import shown
from salvo.scenarios.result import AgentRunResult, Cause, ToolCall

LEAST = 0.25
"""The share of failing runs, beyond that of passing ones, that must leave at one step for it to be told."""
_LENGTH = 120


class Step(NamedTuple):
    """One step of a run, from what it was to all that is known of it."""

    what: str
    outcome: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToolPath:
    """A run as the steps it took; the last one is how it ended."""

    run_id: str
    passed: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """What runs of one kind did at the step: the most frequent of it, with one run to look at."""

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
# From coarse to fine: which tools, then what came of them, then with which arguments. What ways have in common on a
# coarse view may still part on a finer one, and the coarsest that parts is the easiest to understand.
_VIEWS: tuple[_View, ...] = (
    lambda step: (step.what,),
    lambda step: (step.what, step.outcome),
    lambda step: (step.what, step.outcome, step.detail),
)


def tool_path(result: AgentRunResult) -> ToolPath:
    """Its tool calls, or where it lists none, the events of its trace; then its end."""
    calls = [_call(call) for call in result.tool_calls] or [
        Step(f"{event.type} {event.data.get('name', '')}".strip(), detail=shown(event.data, _LENGTH))
        for event in result.trace
        if event.type != "model"
    ]
    return ToolPath(result.run_id, result.passed, (*calls, _end(result)))


def find_divergence(ways: Iterable[ToolPath]) -> Divergence | None:
    """None where there are no passing or no failing runs, or where they cannot be told apart by their steps."""
    every = list(ways)
    passing, failing = [way for way in every if way.passed], [way for way in every if not way.passed]
    if not passing or not failing:
        return None
    return next(filter(None, (_parting(passing, failing, view) for view in _VIEWS)), None)


def shared_paths(one: ToolPath, other: ToolPath) -> tuple[int, ...]:
    """How many steps two ways begin with alike: by the tools, by what came of them, by their arguments."""
    return tuple(_shared([view(step) for step in one.steps], [view(step) for step in other.steps]) for view in _VIEWS)


def _shared(one: Sequence[tuple[str, ...]], other: Sequence[tuple[str, ...]]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (here, there) in pairs if here != there), min(len(one), len(other)))


def _parting(passing: Sequence[ToolPath], failing: Sequence[ToolPath], view: _View) -> Divergence | None:
    """Along the way that most passing runs go: the step at which the most failing ones leave it, the first of such."""
    found: tuple[float, int, list[ToolPath], list[ToolPath]] | None = None
    on_p, on_f = list(passing), list(failing)
    for number in range(max(len(way.steps) for way in passing)):
        here_p, here_f = _there(on_p, number), _there(on_f, number)
        if not here_p or not here_f:
            break
        common = _most_common(here_p, number, view)
        left_p = [way for way in here_p if view(way.steps[number]) != common]
        left_f = [way for way in here_f if view(way.steps[number]) != common]
        gain = len(left_f) / len(failing) - len(left_p) / len(passing)
        if gain >= LEAST and (found is None or gain > found[0]):
            found = gain, number, here_p, left_f
        on_p = [way for way in here_p if view(way.steps[number]) == common]
        on_f = [way for way in here_f if view(way.steps[number]) == common]
    if found is None:
        return None
    _, number, stayed, left = found
    return Divergence(
        step=number + 1,
        passing=_branch(stayed, number, view, len(passing)),
        failing=_branch(left, number, view, len(failing)),
    )


def _there(ways: Sequence[ToolPath], number: int) -> list[ToolPath]:
    return [way for way in ways if len(way.steps) > number]


def _most_common(ways: Sequence[ToolPath], number: int, view: _View) -> tuple[str, ...]:
    counts = Counter(view(way.steps[number]) for way in ways)
    return min(counts, key=lambda key: (-counts[key], key))


def _branch(ways: Sequence[ToolPath], number: int, view: _View, of: int) -> Branch:
    common = _most_common(ways, number, view)
    taken = [way for way in ways if view(way.steps[number]) == common]
    return Branch(_told(common), len(taken), of, taken[0].run_id)


def _told(view: tuple[str, ...]) -> str:
    what, *more = view
    outcome = more[0] if more else ""
    detail = more[1] if len(more) > 1 else ""
    return what + (f" {detail}" if detail else "") + (f", which answers with an error: {outcome}" if outcome else "")


def _call(call: ToolCall) -> Step:
    error = "" if call.error is None else shown(call.error, _LENGTH)
    return Step(f"call {call.name}", error, shown(call.arguments, _LENGTH))


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
    return Step("answer", detail=shown(result.final_output, _LENGTH))
