"""What the HTML report shows of a run: its steps, each with the assertions about it; and two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import NamedValue, format_time, pluralize, truncate
from salvo.records import record
from salvo.scenarios.analysis.trajectories import truncation
from salvo.scenarios.analysis.trajectories.alignment import AlignedRow, align
from salvo.scenarios.analysis.trajectories.trajectory import Trajectory, TrajectoryStep, trajectory
from salvo.scenarios.analysis.trajectories.truncation import TruncationBudget
from salvo.scenarios.report import labels, run_labels
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult

_FIRST, _LAST = 80, 20
"""Steps of a long run that are shown, at its beginning and at its end. Steps with assertions are always shown."""
_LINE = 90
_CELL = 400
_BEFORE, _AFTER = 6, 24
"""Steps that are shown side by side, before and after the first difference."""


@dataclass(slots=True)
class TurnView:
    """A turn of a conversation: what the user said, what the agent did, and what it answered."""

    number: int
    user: TrajectoryStep | None = None
    steps: list[TrajectoryStep | str] = field(default_factory=list)
    answer: TrajectoryStep | None = None


@record
class RunView:
    """A run for the template `run.html`. `path` and `results` are truncated."""

    run: AgentRunResult
    results: Sequence[EvalResult]
    full_lengths: Mapping[str, int]
    """Of the truncated values of `results`, such as "0.actual"."""
    path: Trajectory

    @property
    def command(self) -> str:
        """Prints the run in full."""
        return f"salvo report {self.run.run_id} --json"

    @property
    def failing(self) -> list[tuple[str, int]]:
        """The failed assertions about single steps, with the numbers of these steps."""
        return [
            (run_labels.label(self.results[index]), step.number)
            for step in self.path.steps
            for index in step.assertions
            if self.results[index].passed is False
        ]

    def passed(self, indexes: Sequence[int]) -> str:
        return ", ".join(run_labels.label(self.results[index]) for index in indexes if self.results[index].passed)

    def facts(self) -> Iterator[NamedValue]:
        yield NamedValue("Score", labels.score(self.run.weighted_score))
        if self.run.cause not in (None, Cause.ASSERTION):
            yield NamedValue("Reason", labels.describe_cause(self.run.cause))
        yield from (NamedValue(row.name.capitalize(), row.value) for row in run_labels.metrics(self.run))
        yield NamedValue("Started", format_time(self.run.timestamp))
        if self.run.seed is not None:
            yield NamedValue("Seed", str(self.run.seed))
        yield NamedValue("Run", self.run.run_id, code=True)

    def steps(self) -> Iterator[TrajectoryStep | str]:
        """Yield the steps. A text takes the place of steps that are left out."""
        omitted = 0
        for index, step in enumerate(self.path.steps):
            if _FIRST <= index < len(self.path.steps) - _LAST and not step.assertions:
                omitted += 1
                continue
            if omitted:
                yield f"{pluralize(omitted, 'step')} left out here."
                omitted = 0
            yield step

    def items(self) -> Iterator[TurnView | TrajectoryStep | str]:
        """Yield the steps, those of a conversation turn by turn."""
        turn: TurnView | None = None
        for item in self.steps():
            # A text stands for steps of the turn in which it is.
            open_turn = None if turn is None else turn.number
            number = item.turn if isinstance(item, TrajectoryStep) else open_turn
            if turn is not None and number != turn.number:
                yield turn
                turn = None
            if number is None:
                yield item
                continue
            turn = turn or TurnView(number)
            if isinstance(item, TrajectoryStep) and item.kind == "message":
                turn.user = item
            elif isinstance(item, TrajectoryStep) and item.kind == "answer":
                turn.answer = item
            else:
                turn.steps.append(item)
        if turn is not None:
            yield turn


def run_view(run: AgentRunResult, scenario: Mapping[str, Any], budget: TruncationBudget) -> RunView:
    results, full_lengths = truncation.truncate_assertions(run.eval_results, budget)
    path = truncation.truncate_trajectory(trajectory(run, scenario), budget)
    return RunView(run, results, full_lengths, path)


def format_value(value: Any) -> str:
    """Return a text unchanged, and any other value as JSON: on one line if it fits."""
    if isinstance(value, str):
        return value
    line = json_codec.dumps(value)
    return (line if len(line) <= _LINE else json_codec.dumps(value, indent=2)).decode("utf-8", "replace")


class SideBySideView(NamedTuple):
    failing: AgentRunResult
    passing: AgentRunResult
    rows: Sequence[AlignedRow]
    first: AlignedRow | None
    """The first row that differs."""
    omitted: int


def side_by_side(failing: AgentRunResult, passing: AgentRunResult, scenario: Mapping[str, Any]) -> SideBySideView:
    """Return a failing and a passing run step by step, around their first difference."""
    aligned = align(trajectory(failing, scenario), trajectory(passing, scenario))
    index = aligned.first_difference
    rows = aligned.rows[max(0, (index or 0) - _BEFORE) : (index or 0) + _AFTER]
    first = None if index is None else aligned.rows[index]
    return SideBySideView(failing, passing, rows, first, len(aligned.rows) - len(rows))


def differing_texts(step: TrajectoryStep, row: AlignedRow) -> list[str]:
    """Return the values of a step that differ in the two runs."""
    names = [] if row.same else row.differs or ["text", "arguments", "result", "error"]
    values = [getattr(step, name) for name in names if name not in ("kind", "title")]
    return [
        truncate(value if isinstance(value, str) else json_codec.dumps(value).decode("utf-8", "replace"), _CELL)
        for value in values
        if value not in (None, "", {})
    ]
