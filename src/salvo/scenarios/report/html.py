"""A batch as one HTML file, for people without the server: no script, no request to anyone, on a screen or on paper.

Whatever comes from the agent, its tools, the judge or the scenario is hostile: `markup` escapes it, and the policy in
the head allows nothing but the one stylesheet, by its hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from salvo.engine.text.formatting import NamedValue, format_time, percent, pluralize, truncate
from salvo.engine.text.html import blocks
from salvo.engine.text.html.markup import Child, Markup, element, foreign
from salvo.engine.text.html.page import page, paper, stylesheet
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, tool_path
from salvo.scenarios.analysis.nearest_run import nearest
from salvo.scenarios.analysis.summary import BatchSummary, Failure, Group
from salvo.scenarios.analysis.truncation import TruncationBudget
from salvo.scenarios.report import labels, run_html
from salvo.scenarios.result import AgentRunResult, Batch, Cause, Outcome, full_model

IN_FULL = 50
"""Failed runs that are shown with all that is known of them."""
_UNFOLDED = 3
_IDS = 5
_GROUPS = 20
_TOLD = 500
_ROOM = 2_000_000
"""Characters of what agents, tools and judges said, in the whole file."""


def render(summary: BatchSummary, batch: Batch, runs: Sequence[AgentRunResult], unread: int = 0) -> str:
    """`runs` are those to show and to compare: failed ones and passing ones, as many as there are or as are wanted.

    `unread` runs could not be read, and are in no number.
    """
    title = f"{summary.verdict.upper()} – {summary.scenario_id} {summary.batch_id}"
    return page(title, _style(), _Page(summary, batch, runs, unread).body())


@cache
def _style() -> str:
    return stylesheet("salvo.scenarios.report", "batch.css") + paper("Salvo: what the runs of one batch came to.")


class _Page:
    def __init__(self, summary: BatchSummary, batch: Batch, runs: Sequence[AgentRunResult], unread: int) -> None:
        self._summary = summary
        self._batch = batch
        self._unread = unread
        ordered = sorted((run for run in runs if run.batch_id == batch.batch_id), key=lambda run: run.number)
        self._failed = [run for run in ordered if run.outcome is Outcome.FAILED]
        self._passing = [run for run in ordered if run.outcome is Outcome.PASSED]
        self._shown = self._failed[:IN_FULL]
        self._room = TruncationBudget(_ROOM)

    def body(self) -> Markup:
        main = element("main", *self._sections())
        by = self._batch.salvo_version
        footer = element("footer", element("p", f"Runs made with Salvo {by or 'of an unknown version'}."))
        return element("body", element("div", self._header(), main, footer, class_="page"))

    def _header(self) -> Markup:
        summary = self._summary
        why = labels.why(summary)
        also = [*labels.stopped(summary), *_could_not_be_judged(summary), *filter(None, [labels.not_made(summary)])]
        return element(
            "header",
            element("p", "Salvo: one scenario, run again and again", class_="soft"),
            element("h1", foreign(summary.scenario_id)),
            element(
                "section",
                element("p", run_html.badge(summary.verdict)),
                element(
                    "div",
                    element("p", f"{why[0].upper()}{why[1:]}."),
                    element("ul", *(element("li", line) for line in also)) if also else None,
                ),
                class_=f"status {summary.verdict}",
                aria_label="Verdict",
            ),
            *(element("p", notice, class_="notice") for notice in self._notices()),
            blocks.rows(self._facts(), class_="facts"),
        )

    def _notices(self) -> Iterator[str]:
        if self._unread:
            yield f"{pluralize(self._unread, 'run')} could not be read from the store, and no rate here counts them."

    def _facts(self) -> list[NamedValue]:
        summary = self._summary
        return [
            NamedValue("Model", full_model(summary.provider, summary.model) or "unknown", code=True),
            NamedValue("Begun", format_time(summary.created_at)),
            NamedValue("Runs completed", f"{summary.completed} of {summary.runs}"),
            NamedValue("Average score", labels.score(summary.average_score)),
            NamedValue("Batch", summary.batch_id, code=True),
            *([NamedValue("Scenario file", summary.source, code=True)] if summary.source else []),
        ]

    def _sections(self) -> Iterator[Markup]:
        summary = self._summary
        yield from blocks.section("What the runs show", *self._figures())
        yield from blocks.section("Assertions", self._assertions())
        if self._failed and self._passing:
            yield from blocks.section("Where failing and passing runs part", *self._parting())
        yield from blocks.section("Failed runs", *self._failures())
        if summary.error_groups:
            yield from blocks.section("Errors, which are not failures", *self._errors())
        if not_made := labels.not_made(summary):
            yield from blocks.section("Runs not made", *self._not_made(not_made))
        yield element("h2", "The scenario as it was resolved", id=run_html.SCENARIO)
        yield from self._scenario()
        yield from blocks.section("Made with", *self._made_with())
        yield from blocks.section("Look closer, or replay", *self._commands())

    def _figures(self) -> Iterator[Markup]:
        summary = self._summary
        if summary.pass_rate is not None:
            interval = summary.evidence.interval if summary.evidence else summary.interval
            asked = f"min_pass_rate {percent(summary.min_pass_rate)}"
            yield blocks.scale(
                f"Pass rate {labels.rate(summary)}, held against a {asked}; the line is the interval",
                summary.pass_rate,
                [(min(1.0, max(0.0, summary.min_pass_rate)), asked)],
                summary.verdict,
                interval,
            )
        yield blocks.rows(
            [NamedValue(row.name.capitalize(), row.value) for row in labels.figures(summary)], "rows figures"
        )

    def _assertions(self) -> Markup:
        summary = self._summary
        if not summary.assertions:
            return element("p", "No assertion was judged.")
        rows = [
            (
                element("code", foreign(of.label)),
                of.type,
                "yes" if of.required else "no",
                run_html.tally(of.passed, of.judged),
                percent(of.passed / of.judged) if of.judged else "unknown",
                "; ".join(labels.notes(of, summary)),
            )
            for of in summary.assertions
        ]
        columns = ("Assertion", "Type", "Required", "Runs passed", "Share", "Note")
        return blocks.table("Over all runs in which it was judged", columns, rows, "scroll whole", named=True)

    def _parting(self) -> Iterator[Markup]:
        found = find_divergence(tool_path(run) for run in (*self._failed, *self._passing))
        if found is None:
            yield element("p", "They cannot be told apart by the steps they take.")
        else:
            told = labels.parted(found)
            yield element("p", f"{told[0].upper()}{told[1:]}. A step here is a tool call, or the end.", class_="strong")
            sides = ((found.failing, "failing"), (found.passing, "passing"))
            yield blocks.listed([truncate(labels.branch(*side), _TOLD) for side in sides], "")
        failing, passing = self._pair(found)
        yield run_html.side_by_side(failing, passing, self._batch.scenario)

    def _pair(self, found: Divergence | None) -> tuple[AgentRunResult, AgentRunResult]:
        """The two runs that the parting names; without one, the first that failed and the passing one nearest to it."""
        by_id = {run.run_id: run for run in (*self._failed, *self._passing)}
        if found is not None:
            return by_id[found.failing.run_id], by_id[found.passing.run_id]
        near = nearest(tool_path(self._failed[0]), map(tool_path, self._passing))
        return self._failed[0], by_id[near.run_id] if near else self._passing[0]

    def _failures(self) -> Iterator[Markup]:
        summary = self._summary
        if not summary.failures:
            yield element("p", "No failures." if summary.completed else "No run was completed.")
            return
        numbers = {run.number for run in self._shown}
        shown = [failure for failure in summary.failures if failure.number in numbers]
        if left_out := len(summary.failures) - len(shown):
            told = (
                f"Of {pluralize(len(summary.failures), 'failed run')}, {len(shown)} are shown and {left_out} left out."
            )
            every = element("code", f"salvo report {summary.batch_id} --failures")
            yield element("p", f"{told} All of them: ", every, class_="notice")
        if len(shown) > 1:
            rows = [(_to_run(of), labels.score(of.score), _failed_by(of)) for of in shown]
            yield blocks.table("Failed runs at a glance", ("Run", "Score", "Failed by"), rows, named=True)
        for place, run in enumerate(self._shown):
            yield run_html.card(run, self._batch.scenario, self._room, unfolded=place < _UNFOLDED)

    def _errors(self) -> Iterator[Markup]:
        yield element("p", "What was under test is not to blame for these, and no rate counts them.")
        yield self._grouped((group, labels.error(group)) for group in self._summary.error_groups)

    def _not_made(self, told: str) -> Iterator[Markup]:
        summary = self._summary
        yield element("p", told, " Make them: ", element("code", f"salvo run --resume {summary.batch_id}"))
        if summary.not_made:
            yield self._grouped((group, group.why) for group in summary.not_made)

    def _grouped(self, groups: Iterable[tuple[Group, str]]) -> Markup:
        every = list(groups)
        rows = [(str(group.count), why, _ids(group.run_ids)) for group, why in every[:_GROUPS]]
        if more := sum(group.count for group, _ in every[_GROUPS:]):
            rows.append((str(more), "other reasons", element("code", f"salvo report {self._batch.batch_id} --json")))
        return blocks.table("By reason", ("Runs", "Why", "Which"), rows)

    def _scenario(self) -> Iterator[Markup]:
        document = self._batch.scenario
        if not document:
            yield element("p", "It was not kept.")
            return
        said = {name: value for name, value in document.items() if value not in _NOTHING}
        if short := [NamedValue(name, _one_line(value)) for name, value in said.items() if _is_short(value)]:
            yield blocks.rows(short)
        room, whole = TruncationBudget(), f".salvo/batches/{self._batch.batch_id}.json"
        for name, value in said.items():
            if not _is_short(value):
                yield run_html.folded(name, value, room, whole, unfolded=isinstance(value, str))

    def _made_with(self) -> Iterator[Markup]:
        batch = self._batch
        settings = {
            "Batch": batch.batch_id,
            "Command": batch.command,
            "Salvo": batch.salvo_version,
            "Adapter": batch.adapter,
            "Model": full_model(batch.provider, batch.model),
            "Seed": batch.seed,
            "Threshold of a run's score": batch.threshold,
            "min_pass_rate": batch.min_pass_rate,
            "Confidence": batch.confidence,
            "Runs at most": batch.max_runs,
            "Recorded": "yes" if batch.recorded else "no",
            **batch.settings,
        }
        yield blocks.rows([NamedValue(name, _one_line(of)) for name, of in settings.items() if of not in _NOTHING])
        if batch.tools:
            rows = [(element("code", foreign(name)), of) for name, of in batch.tools.items()]
            yield blocks.table("Tools, each with a hash of what it is", ("Tool", "Hash"), rows, named=True)

    def _commands(self) -> Iterator[Markup]:
        summary = self._summary
        recorded = [failure.run_id for failure in summary.failures if failure.recorded]
        yield element("p", "In the folder in which the runs were made, or in a clone that has its recordings:")
        commands = [
            (f"salvo report {summary.batch_id}", "the table of this batch"),
            *((f"salvo replay {run_id}", "a failed run again, without calling anyone") for run_id in recorded[:1]),
            *([(f"salvo replay --re-eval {summary.batch_id}", "judge what was recorded again")] if recorded else []),
        ]
        yield element("dl", *(_command(*of) for of in commands), class_="rows")
        if not recorded and summary.failures:
            needed = element("code", "salvo run --record")
            yield element("p", "The failed runs were not recorded: replay needs ", needed, ".")


def _could_not_be_judged(summary: BatchSummary) -> Iterator[str]:
    if summary.errors:
        yield f"{pluralize(summary.errors, 'run')} could not be judged (errors, not failures)."


def _to_run(of: Failure) -> Markup:
    return element("a", f"Run {of.number}", href=f"#{run_html.anchor(of.number)}")


def _failed_by(of: Failure) -> str:
    stopped = [labels.cause_of(of.cause)] if of.cause not in (None, Cause.ASSERTION) else []
    return ", ".join([*stopped, *of.assertions])


def _ids(run_ids: Sequence[str]) -> Markup:
    shown: list[Child] = [element("code", foreign(run_id), class_="hash") for run_id in run_ids[:_IDS]]
    more = [f"and {len(run_ids) - _IDS} more"] if len(run_ids) > _IDS else []
    return element("span", *(part for item in (*shown, *more) for part in (item, " ")))


def _command(command: str, does: str) -> Markup:
    return element("div", element("dt", does), element("dd", element("code", command, class_="hash")))


_SHORT = 120
_NOTHING: tuple[Any, ...] = (None, "", {}, [])


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT and "\n" not in value
    return not isinstance(value, Mapping | list)


def _one_line(value: Any) -> str:
    return value if isinstance(value, str) else run_html.written(value)
