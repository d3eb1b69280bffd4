"""A run as HTML: its steps, and beside each the assertions that concern it; and two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import NamedValue, format_time, pluralize, seconds, truncate
from salvo.engine.text.html import blocks
from salvo.engine.text.html.markup import Child, Markup, element, foreign
from salvo.scenarios.analysis import truncation
from salvo.scenarios.analysis.alignment import AlignedRow as Pair
from salvo.scenarios.analysis.alignment import align
from salvo.scenarios.analysis.summary import BatchVerdict
from salvo.scenarios.analysis.trajectory import Trajectory, TrajectoryStep, trajectory
from salvo.scenarios.analysis.truncation import TruncationBudget
from salvo.scenarios.report import labels
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome

SCENARIO = "scenario"
"""Where on the page the scenario stands."""
_SIGNS: Mapping[str, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "!",
    BatchVerdict.OPEN: "…",
    BatchVerdict.INCONCLUSIVE: "?",
}
_KINDS = {"system": "asked", "message": "asked", "model": "model", "tool": "tool", "event": "event", "end": "end"}
_ASKED = ("system", "message")
_FIRST, _LAST = 80, 20
"""Steps of a long run that are shown, from its beginning and from its end; those that an assertion concerns are too."""
_FOLDED = 1500
"""Characters from which on a value is folded away."""
_LINE = 90
_TITLE = 300
_CELL = 400
_BEFORE, _AFTER = 6, 24
"""Steps that are shown side by side, before and after the first difference."""


def anchor(number: int) -> str:
    return f"run-{number}"


def badge(of: Outcome | BatchVerdict) -> Markup:
    return blocks.badge(of, _SIGNS[of])


def tally(passed: int, judged: int) -> Markup:
    """Of how many runs; the sign tells whether it was all of them."""
    of = Outcome.FAILED if passed < judged else Outcome.PASSED if judged else Outcome.ERROR
    return element("span", f"{_SIGNS[of]} {passed} of {judged}", class_=f"tally {of}")


def card(run: AgentRunResult, scenario: Mapping[str, Any], room: TruncationBudget, *, unfolded: bool) -> Markup:
    whole = trajectory(run, scenario)
    results, cut_short = truncation.assertions(run.eval_results, room)
    return _Card(replace(run, eval_results=results), truncation.shortened(whole, room), cut_short).shown(unfolded)


class _Card:
    def __init__(self, run: AgentRunResult, steps: Trajectory, cut_short: Mapping[str, int]) -> None:
        self._run = run
        self._trajectory = steps
        self._cut = cut_short
        self._id = anchor(run.number)
        self._whole = f"salvo report {run.run_id} --json"

    def shown(self, unfolded: bool) -> Markup:
        run, name = self._run, f"{self._id}-name"
        steps = self._trajectory.steps
        summary = element("summary", f"What it did, in {pluralize(len(steps), 'step')}")
        return element(
            "article",
            element("header", element("h3", f"Run {run.number}", id=name), badge(run.outcome)),
            blocks.rows(list(self._facts()), class_="facts"),
            blocks.sentence("why", truncate(run.error or "", _TITLE)),
            *blocks.part("Failing assertions", self._failing()),
            *blocks.part("About the whole run", self._overall()),
            element(
                "details",
                summary,
                element("ol", *self._steps(), class_="steps"),
                class_="way",
                open="" if unfolded else None,
            ),
            element("p", "Replay: ", foreign(labels.replay(run)), class_="soft small replay"),
            class_=f"card {run.outcome}",
            id=self._id,
            aria_labelledby=name,
        )

    def _facts(self) -> Iterator[NamedValue]:
        run = self._run
        yield NamedValue("Score", labels.score(run.weighted_score))
        if run.cause not in (None, Cause.ASSERTION):
            yield NamedValue("The agent", labels.cause_of(run.cause))
        yield from (NamedValue(row.name.capitalize(), row.value) for row in labels.metrics(run))
        yield NamedValue("Begun", format_time(run.timestamp))
        if run.seed is not None:
            yield NamedValue("Seed", str(run.seed))
        yield NamedValue("Run", run.run_id, code=True)

    def _failing(self) -> Markup | None:
        """Each leads to the step that it concerns; those of the whole run follow."""
        items = [
            element(
                "li",
                element("a", foreign(labels.label(self._run.eval_results[index])), href=f"#{self._step_id(step)}"),
                f" at step {step.number}",
            )
            for step in self._trajectory.steps
            for index in step.assertions
            if self._run.eval_results[index].passed is False
        ]
        return element("ul", *items, class_="list small") if items else None

    def _overall(self) -> Markup | None:
        concern = self._concerning(self._trajectory.overall)
        return element("div", *concern) if concern else None

    def _steps(self) -> Iterator[Markup]:
        steps = self._trajectory.steps
        left_out = 0
        for place, step in enumerate(steps):
            if place < _FIRST or place >= len(steps) - _LAST or step.assertions:
                if left_out:
                    yield _left_out(left_out)
                    left_out = 0
                yield self._step(step)
            else:
                left_out += 1

    def _step(self, step: TrajectoryStep) -> Markup:
        took = [seconds(step.took)] if step.took is not None else []
        tokens = [pluralize(step.tokens, "token")] if step.tokens is not None else []
        about = " · ".join([*took, *tokens])
        return element(
            "li",
            element(
                "p",
                element("span", f"{step.number} {_KINDS[step.kind]}", class_="kind"),
                " ",
                element("strong", foreign(truncate(step.title, _TITLE))),
                blocks.soft(f" {about}") if about else None,
                *([", ", element("a", "as the scenario has it", href=f"#{SCENARIO}")] if step.kind in _ASKED else []),
                class_="step",
            ),
            *self._content(step),
            *self._concerning(step.assertions),
            id=self._step_id(step),
            value=str(step.number),
            class_=step.kind,
        )

    def _content(self, step: TrajectoryStep) -> Iterator[Markup]:
        if step.kind in _ASKED:
            return
        if step.text:
            yield from self._value("says", step.text, step.cut.get("text"))
        if step.kind == "tool" and step.arguments is not None:
            yield from self._value("arguments", step.arguments, step.cut.get("arguments"))
        if step.error is not None:
            yield element("p", "error: ", foreign(step.error), _cut(step.cut.get("error"), self._whole), class_="fault")
        if step.result is not None or (step.error is None and step.kind in ("tool", "end")):
            yield from self._value("output" if step.kind == "end" else "result", step.result, step.cut.get("result"))

    def _value(self, name: str, value: Any, whole: int | None) -> Iterator[Markup]:
        yield _value(name, value, whole, self._whole)

    def _concerning(self, indexes: Sequence[int]) -> list[Markup]:
        """What failed or could not be judged in full, what passed by its name."""
        results = [(index, self._run.eval_results[index]) for index in indexes]
        passed = [labels.label(of) for _, of in results if of.passed]
        shown = [self._assertion(index, of) for index, of in results if not of.passed]
        if passed:
            shown.append(element("p", "Passed: ", foreign(", ".join(passed)), class_="soft small"))
        return shown

    def _assertion(self, index: int, of: EvalResult) -> Markup:
        label, outcome = labels.label(of), labels.outcome(of)
        kind = f" ({of.type})" if label != of.type else ""
        about = f"{kind}{', required' if of.required else ''}, weight {of.weight:g}"
        values = (
            _value(name, getattr(of, name), self._cut.get(f"{index}.{name}"), self._whole)
            for name in ("expected", "actual")
        )
        compared = of.expected is not None or of.actual is not None
        return element(
            "div",
            element("p", badge(outcome), " ", element("strong", foreign(label)), foreign(about)),
            element("p", foreign(of.message), self._cut_of(index, "message")) if of.message else None,
            element("div", *values, class_="compared") if compared else None,
            class_=f"concern {outcome}",
        )

    def _cut_of(self, index: int, name: str) -> Markup | None:
        return _cut(self._cut.get(f"{index}.{name}"), self._whole)

    def _step_id(self, step: TrajectoryStep) -> str:
        return f"{self._id}-step-{step.number}"


def _left_out(number: int) -> Markup:
    return element("li", element("p", f"{pluralize(number, 'step')} left out here."), class_="left-out")


def folded(name: str, value: Any, room: TruncationBudget, command: str, *, unfolded: bool) -> Markup:
    """A value of any length, under its name."""
    shown, whole = room.fit(value)
    summary = element("summary", foreign(name))
    body = (_box(shown), _cut(whole, command))
    return element("details", summary, *body, class_="part", open="" if unfolded else None)


def _value(name: str, value: Any, whole: int | None, command: str) -> Markup:
    text = written(value)
    title = element("span", name, class_="name")
    if len(text) > _FOLDED:
        summary = element("summary", title, " ", blocks.soft(f"{whole or len(text):,} characters"))
        return element("details", summary, _box(text), _cut(whole, command), class_="value")
    return element("div", title, _box(text), _cut(whole, command), class_="value")


def _box(value: Any) -> Markup:
    return element("pre", written(value), class_="box", dir="auto")


def _cut(whole: int | None, command: str) -> Markup | None:
    if whole is None:
        return None
    return element("span", f"Cut here, of {whole:,} characters. The whole: ", element("code", command), class_="cut")


def written(value: Any) -> str:
    """A text as it is, and any other value as JSON: on one line where it fits."""
    if isinstance(value, str):
        return value
    line = json_codec.dumps(value)
    return (line if len(line) <= _LINE else json_codec.dumps(value, indent=2)).decode("utf-8", "replace")


def side_by_side(failing: AgentRunResult, passing: AgentRunResult, scenario: Mapping[str, Any]) -> Markup:
    """A failing and a passing run, with the first step at which they are not the same marked."""
    found = align(trajectory(failing, scenario), trajectory(passing, scenario))
    first = found.first_difference or 0
    start, end = max(0, first - _BEFORE), first + _AFTER
    rows = [_pair(found.rows[at], at == found.first_difference) for at in range(start, min(end, len(found.rows)))]
    left_out = len(found.rows) - len(rows)
    caption = f"Run {failing.number}, which failed, beside run {passing.number}, which passed"
    if left_out:
        caption += f"; {pluralize(left_out, 'step')} left out"
    columns = ("Step", f"Run {failing.number}, failed", f"Run {passing.number}, passed")
    return blocks.table(caption, columns, rows, "scroll beside", named=True)


def _pair(pair: Pair, first: bool) -> tuple[Markup, Markup, Markup]:
    word = "the same" if pair.same else "first difference" if first else "different"
    kind = "same" if pair.same else "first" if first else "other"
    fields = [] if pair.same else pair.differs or ["text", "arguments", "result", "error"]
    return (
        element("span", word, class_=f"is-{kind}"),
        _cell(pair.a, fields),
        _cell(pair.b, fields),
    )


def _cell(step: TrajectoryStep | None, fields: Sequence[str]) -> Markup:
    if step is None:
        return element("span", "no such step", class_="soft")
    told: list[Child] = [element("strong", foreign(truncate(step.title, _TITLE)))]
    for name in fields:
        value = getattr(step, name)
        if name not in ("kind", "title") and value not in (None, "", {}):
            text = truncate(
                value if isinstance(value, str) else json_codec.dumps(value).decode("utf-8", "replace"), _CELL
            )
            told.append(element("div", text, class_="told", dir="auto"))
    return element("div", element("span", f"{step.number}. ", class_="soft"), *told)
