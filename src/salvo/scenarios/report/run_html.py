"""What the HTML report shows of a run: its steps, each with the assertions about it; and two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import NamedValue, format_time, pluralize, seconds, truncate
from salvo.scenarios.analysis import truncation
from salvo.scenarios.analysis.alignment import AlignedRow, align
from salvo.scenarios.analysis.trajectory import TrajectoryStep, trajectory
from salvo.scenarios.analysis.truncation import TruncationBudget
from salvo.scenarios.report import labels
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome

_KINDS = {"system": "input", "message": "input", "model": "model", "tool": "tool", "event": "event", "end": "end"}
_FIRST, _LAST = 80, 20
"""Steps of a long run that are shown, at its beginning and at its end. Steps with assertions are always shown."""
_FOLDED = 1500
"""Characters from which a value is folded."""
_LINE = 90
_TITLE = 300
_CELL = 400
_BEFORE, _AFTER = 6, 24
"""Steps that are shown side by side, before and after the first difference."""


@dataclass(frozen=True, slots=True)
class ValueView:
    """A value as text. `full_length` is the number of its characters if it was truncated."""

    name: str
    text: str
    full_length: int | None = None

    @property
    def folded(self) -> bool:
        return len(self.text) > _FOLDED

    @property
    def length(self) -> int:
        return self.full_length or len(self.text)


@dataclass(frozen=True, slots=True)
class AssertionView:
    """An assertion that did not pass."""

    outcome: Outcome
    label: str
    about: str
    message: ValueView
    values: list[ValueView]


@dataclass(frozen=True, slots=True)
class AssertionList:
    """Assertions about a step or about the whole run: those that did not pass, and the names of the others."""

    failed: list[AssertionView]
    passed: list[str]


@dataclass(frozen=True, slots=True)
class StepView:
    id: str
    number: int
    kind: str
    label: str
    title: str
    about: str
    from_scenario: bool
    values: list[ValueView]
    error: ValueView | None
    assertions: AssertionList


@dataclass(frozen=True, slots=True)
class FailingAssertion:
    label: str
    step: int
    step_id: str


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    run: AgentRunResult
    command: str
    """Prints the run in full."""
    facts: list[NamedValue]
    error: str
    failing: list[FailingAssertion]
    overall: AssertionList
    step_count: int
    steps: list[StepView | str]
    """A text takes the place of steps that are left out."""
    replay: str


def run_anchor(number: int) -> str:
    return f"run-{number}"


def run_view(run: AgentRunResult, scenario: Mapping[str, Any], budget: TruncationBudget) -> RunView:
    results, full_lengths = truncation.truncate_assertions(run.eval_results, budget)
    path = truncation.truncate_trajectory(trajectory(run, scenario), budget)
    steps = [_step_view(run.number, step, results, full_lengths) for step in path.steps]
    return RunView(
        id=run_anchor(run.number),
        run=run,
        command=f"salvo report {run.run_id} --json",
        facts=list(_facts(run)),
        error=truncate(run.error or "", _TITLE),
        failing=[
            FailingAssertion(labels.label(results[index]), step.number, view.id)
            for step, view in zip(path.steps, steps, strict=True)
            for index in step.assertions
            if results[index].passed is False
        ],
        overall=_assertions(path.overall, results, full_lengths),
        step_count=len(steps),
        steps=list(_without_middle(steps)),
        replay=labels.replay(run),
    )


def _facts(run: AgentRunResult) -> Iterator[NamedValue]:
    yield NamedValue("Score", labels.score(run.weighted_score))
    if run.cause not in (None, Cause.ASSERTION):
        yield NamedValue("Reason", labels.describe_cause(run.cause))
    yield from (NamedValue(row.name.capitalize(), row.value) for row in labels.metrics(run))
    yield NamedValue("Started", format_time(run.timestamp))
    if run.seed is not None:
        yield NamedValue("Seed", str(run.seed))
    yield NamedValue("Run", run.run_id, code=True)


def _without_middle(steps: Sequence[StepView]) -> Iterator[StepView | str]:
    omitted = 0
    for index, step in enumerate(steps):
        has_assertions = step.assertions.failed or step.assertions.passed
        if _FIRST <= index < len(steps) - _LAST and not has_assertions:
            omitted += 1
            continue
        if omitted:
            yield f"{pluralize(omitted, 'step')} left out here."
            omitted = 0
        yield step


def _step_view(
    run_number: int, step: TrajectoryStep, results: Sequence[EvalResult], full_lengths: Mapping[str, int]
) -> StepView:
    duration = [seconds(step.took)] if step.took is not None else []
    tokens = [pluralize(step.tokens, "token")] if step.tokens is not None else []
    from_scenario = step.kind in ("system", "message")
    return StepView(
        id=f"{run_anchor(run_number)}-step-{step.number}",
        number=step.number,
        kind=step.kind,
        label=_KINDS[step.kind],
        title=truncate(step.title, _TITLE),
        about=" · ".join([*duration, *tokens]),
        from_scenario=from_scenario,
        values=[] if from_scenario else list(_values(step)),
        error=None if step.error is None else ValueView("error", step.error, step.cut.get("error")),
        assertions=_assertions(step.assertions, results, full_lengths),
    )


def _values(step: TrajectoryStep) -> Iterator[ValueView]:
    if step.text:
        yield ValueView("says", step.text, step.cut.get("text"))
    if step.kind == "tool" and step.arguments is not None:
        yield ValueView("arguments", format_value(step.arguments), step.cut.get("arguments"))
    if step.result is not None or (step.error is None and step.kind in ("tool", "end")):
        name = "output" if step.kind == "end" else "result"
        yield ValueView(name, format_value(step.result), step.cut.get("result"))


def _assertions(
    indexes: Sequence[int], results: Sequence[EvalResult], full_lengths: Mapping[str, int]
) -> AssertionList:
    passed = [labels.label(results[index]) for index in indexes if results[index].passed]
    failed = [_assertion(index, results[index], full_lengths) for index in indexes if not results[index].passed]
    return AssertionList(failed, passed)


def _assertion(index: int, result: EvalResult, full_lengths: Mapping[str, int]) -> AssertionView:
    label = labels.label(result)
    kind = f" ({result.type})" if label != result.type else ""
    compared = result.expected is not None or result.actual is not None
    return AssertionView(
        outcome=labels.outcome(result),
        label=label,
        about=f"{kind}{', required' if result.required else ''}, weight {result.weight:g}",
        message=ValueView("message", result.message, full_lengths.get(f"{index}.message")),
        values=[
            ValueView(name, format_value(getattr(result, name)), full_lengths.get(f"{index}.{name}"))
            for name in ("expected", "actual")
            if compared
        ],
    )


def format_value(value: Any) -> str:
    """Return a text unchanged, and any other value as JSON: on one line if it fits."""
    if isinstance(value, str):
        return value
    line = json_codec.dumps(value)
    return (line if len(line) <= _LINE else json_codec.dumps(value, indent=2)).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class StepCell:
    number: int
    title: str
    texts: list[str]


@dataclass(frozen=True, slots=True)
class AlignedStep:
    kind: str
    label: str
    cells: list[StepCell | None]


@dataclass(frozen=True, slots=True)
class SideBySideView:
    caption: str
    columns: list[str]
    rows: list[AlignedStep]


def side_by_side(failing: AgentRunResult, passing: AgentRunResult, scenario: Mapping[str, Any]) -> SideBySideView:
    """Return a failing and a passing run step by step, around their first difference."""
    aligned = align(trajectory(failing, scenario), trajectory(passing, scenario))
    first = aligned.first_difference or 0
    start, end = max(0, first - _BEFORE), min(first + _AFTER, len(aligned.rows))
    rows = [_aligned_step(aligned.rows[index], index == aligned.first_difference) for index in range(start, end)]
    caption = f"Run {failing.number} (failed) and run {passing.number} (passed), side by side"
    if omitted := len(aligned.rows) - len(rows):
        caption += f"; {pluralize(omitted, 'step')} left out"
    columns = ["Step", f"Run {failing.number}, failed", f"Run {passing.number}, passed"]
    return SideBySideView(caption, columns, rows)


def _aligned_step(row: AlignedRow, first: bool) -> AlignedStep:
    kind = "same" if row.same else "first" if first else "other"
    label = {"same": "same", "first": "first difference", "other": "different"}[kind]
    fields = [] if row.same else row.differs or ["text", "arguments", "result", "error"]
    return AlignedStep(kind, label, [_cell(row.a, fields), _cell(row.b, fields)])


def _cell(step: TrajectoryStep | None, fields: Sequence[str]) -> StepCell | None:
    if step is None:
        return None
    values = [getattr(step, name) for name in fields if name not in ("kind", "title")]
    texts = [
        truncate(value if isinstance(value, str) else json_codec.dumps(value).decode("utf-8", "replace"), _CELL)
        for value in values
        if value not in (None, "", {})
    ]
    return StepCell(step.number, truncate(step.title, _TITLE), texts)
