"""A batch as one HTML file: no script, no request, for the screen or for paper.

Everything that the agent, its tools, the judge or the scenario wrote may be hostile. The templates escape it, and the
policy in the head allows nothing but the one stylesheet, by its hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from salvo.engine.text.formatting import NamedValue, format_time, percent, pluralize, truncate
from salvo.engine.text.html.templates import print_margins, render_page, stylesheet
from salvo.scenarios.analysis.comparison_inputs import sample_runs
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, nearest, tool_path
from salvo.scenarios.analysis.summary import AssertionSummary, BatchSummary, BatchVerdict, Failure, Group, summarise
from salvo.scenarios.analysis.truncation import TruncationBudget
from salvo.scenarios.report import labels
from salvo.scenarios.report.run_html import (
    SideBySideView,
    ValueView,
    format_value,
    run_anchor,
    run_view,
    side_by_side,
)
from salvo.scenarios.result import AgentRunResult, Batch, Cause, Outcome, full_model
from salvo.scenarios.store.store import RunStore

MOST_FAILURES = 50
"""Failed runs that are shown in full."""
SIGNS: Mapping[str, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "!",
    BatchVerdict.OPEN: "…",
    BatchVerdict.INCONCLUSIVE: "?",
}
_PACKAGE = "salvo.scenarios.report"
_OPEN = 3
_IDS = 5
_GROUPS = 20
_BRANCH = 500
_BUDGET = 2_000_000
"""Characters that agents, tools and judges wrote, in the whole file."""
_SHORT = 120
_EMPTY: tuple[Any, ...] = (None, "", {}, [])


class Exported(NamedTuple):
    html: str
    summary: BatchSummary
    unreadable: int
    """Runs that could not be read. The file says so."""


class AssertionRow(NamedTuple):
    assertion: AssertionSummary
    tally: Outcome
    share: str
    note: str


class FailureRow(NamedTuple):
    number: int
    anchor: str
    score: str
    reason: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    count: int
    reason: str
    run_ids: Sequence[str]
    more: int


class DivergenceView(NamedTuple):
    headline: str
    branches: list[str]
    runs: SideBySideView


def export(store: RunStore, batch_id: str) -> Exported:
    """Return a stored batch as an HTML file."""
    batch, entries = store.load_batch(batch_id), store.load_entries(batch_id)
    summary = summarise(batch, entries)
    runs = list(sample_runs(store, entries))
    return Exported(render(summary, batch, runs, entries.skipped), summary, entries.skipped)


def render(summary: BatchSummary, batch: Batch, runs: Sequence[AgentRunResult], unreadable: int = 0) -> str:
    """Return the file. `runs` are the failed and passed runs to show and compare, which may be a part of them."""
    ordered = sorted((run for run in runs if run.batch_id == batch.batch_id), key=lambda run: run.number)
    failed = [run for run in ordered if run.outcome is Outcome.FAILED]
    passed = [run for run in ordered if run.outcome is Outcome.PASSED]
    in_full = failed[:MOST_FAILURES]
    budget = TruncationBudget(_BUDGET)
    reason = labels.why(summary)
    resolved = {name: value for name, value in batch.scenario.items() if value not in _EMPTY}
    return render_page(
        _PACKAGE,
        "batch.html",
        title=f"{summary.verdict.upper()} – {summary.scenario_id} {summary.batch_id}",
        style=_style(),
        signs=SIGNS,
        summary=summary,
        batch=batch,
        reason=f"{reason[0].upper()}{reason[1:]}.",
        remarks=list(_remarks(summary)),
        unreadable=f"{pluralize(unreadable, 'run')} could not be read from the store." if unreadable else "",
        facts=_facts(summary),
        pass_rate=_pass_rate(summary),
        figures=[NamedValue(row.name.capitalize(), row.value) for row in labels.figures(summary)],
        assertions=[_assertion_row(assertion, summary) for assertion in summary.assertions],
        divergence=_divergence(failed, passed, batch.scenario) if failed and passed else None,
        failures=_failure_rows(summary, in_full),
        omitted=_omitted(summary, in_full),
        runs=[run_view(run, batch.scenario, budget) for run in in_full],
        open_runs=_OPEN,
        errors=_group_rows((group, labels.error(group)) for group in summary.error_groups),
        skipped=labels.skipped(summary),
        skipped_groups=_group_rows((group, group.why) for group in summary.not_made),
        scenario_fields=[NamedValue(name, _one_line(value)) for name, value in resolved.items() if _is_short(value)],
        scenario_values=list(_scenario_values(resolved)),
        settings=_settings(batch),
        recorded=[failure.run_id for failure in summary.failures if failure.recorded],
    )


@cache
def _style() -> str:
    return stylesheet(_PACKAGE, "batch.css") + print_margins("Salvo: results of one batch of runs.")


def _remarks(summary: BatchSummary) -> Iterator[str]:
    yield from labels.stopped(summary)
    if summary.errors:
        yield f"{pluralize(summary.errors, 'run')} could not be judged (errors, not failures)."
    if skipped := labels.skipped(summary):
        yield skipped


def _facts(summary: BatchSummary) -> list[NamedValue]:
    return [
        NamedValue("Model", full_model(summary.provider, summary.model) or "unknown", code=True),
        NamedValue("Started", format_time(summary.created_at)),
        NamedValue("Runs completed", f"{summary.completed} of {summary.runs}"),
        NamedValue("Average score", labels.score(summary.average_score)),
        NamedValue("Batch", summary.batch_id, code=True),
        *([NamedValue("Scenario file", summary.source, code=True)] if summary.source else []),
    ]


def _pass_rate(summary: BatchSummary) -> dict[str, Any] | None:
    """Return the arguments of the macro `scale`."""
    if summary.pass_rate is None:
        return None
    target = f"min_pass_rate {percent(summary.min_pass_rate)}"
    return {
        "label": f"Pass rate {labels.rate(summary)}, with its interval as a line; {target}",
        "share": summary.pass_rate,
        "ticks": [(min(1.0, max(0.0, summary.min_pass_rate)), target)],
        "tone": summary.verdict,
        "interval": summary.evidence.interval if summary.evidence else summary.interval,
    }


def _assertion_row(assertion: AssertionSummary, summary: BatchSummary) -> AssertionRow:
    if not assertion.judged:
        tally = Outcome.ERROR
    else:
        tally = Outcome.FAILED if assertion.passed < assertion.judged else Outcome.PASSED
    share = percent(assertion.passed / assertion.judged) if assertion.judged else "unknown"
    return AssertionRow(assertion, tally, share, "; ".join(labels.notes(assertion, summary)))


def _divergence(
    failed: Sequence[AgentRunResult], passed: Sequence[AgentRunResult], scenario: Mapping[str, Any]
) -> DivergenceView:
    divergence = find_divergence(tool_path(run) for run in (*failed, *passed))
    runs = side_by_side(*_pair(divergence, failed, passed), scenario)
    if divergence is None:
        return DivergenceView("", [], runs)
    headline = labels.divergence(divergence)
    branches = [labels.branch(divergence.failing, "failing"), labels.branch(divergence.passing, "passing")]
    return DivergenceView(
        f"{headline[0].upper()}{headline[1:]}. A step here is a tool call, or the end.",
        [truncate(branch, _BRANCH) for branch in branches],
        runs,
    )


def _pair(
    divergence: Divergence | None, failed: Sequence[AgentRunResult], passed: Sequence[AgentRunResult]
) -> tuple[AgentRunResult, AgentRunResult]:
    """Return the two runs that the divergence names, or the first failed run and the passed one nearest to it."""
    by_id = {run.run_id: run for run in (*failed, *passed)}
    if divergence is not None:
        return by_id[divergence.failing.run_id], by_id[divergence.passing.run_id]
    near = nearest(tool_path(failed[0]), map(tool_path, passed))
    return failed[0], by_id[near.run_id] if near else passed[0]


def _failure_rows(summary: BatchSummary, in_full: Sequence[AgentRunResult]) -> list[FailureRow]:
    numbers = {run.number for run in in_full}
    return [
        FailureRow(failure.number, run_anchor(failure.number), labels.score(failure.score), _reason(failure))
        for failure in summary.failures
        if failure.number in numbers
    ]


def _reason(failure: Failure) -> str:
    cause = [labels.describe_cause(failure.cause)] if failure.cause not in (None, Cause.ASSERTION) else []
    return ", ".join([*cause, *failure.assertions])


def _omitted(summary: BatchSummary, in_full: Sequence[AgentRunResult]) -> str:
    total, number = len(summary.failures), len(_failure_rows(summary, in_full))
    return f"{number} of {pluralize(total, 'failed run')} are shown here." if number < total else ""


def _group_rows(groups: Iterable[tuple[Group, str]]) -> list[GroupRow]:
    every = list(groups)
    rows = [
        GroupRow(group.count, reason, group.run_ids[:_IDS], max(0, len(group.run_ids) - _IDS))
        for group, reason in every[:_GROUPS]
    ]
    if others := sum(group.count for group, _ in every[_GROUPS:]):
        rows.append(GroupRow(others, "other reasons", [], 0))
    return rows


def _scenario_values(resolved: Mapping[str, Any]) -> Iterator[tuple[ValueView, bool]]:
    """Yield the long values of a scenario, and whether each is shown unfolded."""
    budget = TruncationBudget()
    for name, value in resolved.items():
        if not _is_short(value):
            text, full_length = budget.fit(value)
            yield ValueView(name, format_value(text), full_length), isinstance(value, str)


def _settings(batch: Batch) -> list[NamedValue]:
    settings = {
        "Batch": batch.batch_id,
        "Command": batch.command,
        "Salvo": batch.salvo_version,
        "Adapter": batch.adapter,
        "Model": full_model(batch.provider, batch.model),
        "Seed": batch.seed,
        "Score threshold of a run": batch.threshold,
        "min_pass_rate": batch.min_pass_rate,
        "Confidence": batch.confidence,
        "Maximum number of runs": batch.max_runs,
        "Recorded": "yes" if batch.recorded else "no",
        **batch.settings,
    }
    return [NamedValue(name, _one_line(value)) for name, value in settings.items() if value not in _EMPTY]


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT and "\n" not in value
    return not isinstance(value, Mapping | list)


def _one_line(value: Any) -> str:
    return value if isinstance(value, str) else format_value(value)
