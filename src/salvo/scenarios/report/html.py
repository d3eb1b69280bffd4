"""A batch, or several, as one HTML file: no script, no request, for the screen or for paper.

Everything that the agent, its tools, the judge or the scenario wrote may be hostile. The templates escape it, and the
policy in the head allows nothing but the one stylesheet, by its hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from salvo import __version__
from salvo.engine.text.formatting import NamedValue, exact_percent, format_time, percent, pluralize, seconds, truncate
from salvo.engine.text.html.templates import print_margins, render_page, render_part, stylesheet
from salvo.scenarios.analysis.comparison_inputs import MOST_READ, sample_runs
from salvo.scenarios.analysis.divergence import Divergence, find_divergence, nearest, tool_path
from salvo.scenarios.analysis.grid import build_grids
from salvo.scenarios.analysis.scored_again import ScoredAgain, newest_scorings
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict, summarise
from salvo.scenarios.analysis.tool_choices import PromptChoices, has_tool_choices, tool_choices
from salvo.scenarios.analysis.trajectories.truncation import TruncationBudget
from salvo.scenarios.labels.lookup import stored_evidence
from salvo.scenarios.report import labels, run_labels
from salvo.scenarios.report.closing import totals, worth_a_table
from salvo.scenarios.report.grid import cell_row, notes, sentence_headline, split_cells, variant_row
from salvo.scenarios.report.run_html import differing_texts, format_value, run_view, side_by_side
from salvo.scenarios.report.tool_choices import COLUMNS as CHOICE_COLUMNS
from salvo.scenarios.report.tool_choices import choice_row
from salvo.scenarios.report.tool_choices import notes as choice_notes
from salvo.scenarios.result import AgentRunResult, Batch, Outcome, full_model
from salvo.scenarios.store.store import RunStore

MOST_FAILURES = 50
"""Failed runs that are shown in full."""
MOST_SCORES = 10
"""Scorings of a batch that are listed."""
SIGNS: Mapping[str, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "!",
    Outcome.PENDING: "…",
    BatchVerdict.OPEN: "…",
    BatchVerdict.INCONCLUSIVE: "?",
}
_PACKAGE = "salvo.scenarios.report"
_BUDGET = 2_000_000
"""Characters that agents, tools and judges wrote, in the whole file."""
_SHORT = 120
MOST_PROMPTS = 200
_EMPTY: tuple[Any, ...] = (None, "", {}, [], ())
_FUNCTIONS = {
    "labels": labels,
    "run_labels": run_labels,
    "choice_columns": CHOICE_COLUMNS,
    "format_time": format_time,
    "percent": percent,
    "exact_percent": exact_percent,
    "pluralize": pluralize,
    "seconds": seconds,
    "shorten": truncate,
    "format_value": format_value,
    "differing_texts": differing_texts,
}
"""What the templates call."""


class Exported(NamedTuple):
    html: str
    summary: BatchSummary
    unreadable: int
    """Runs that could not be read. The file says so."""


def export(store: RunStore, batch_id: str) -> Exported:
    """Return a stored batch as an HTML file."""
    entries = store.load_entries(batch_id)
    batch = store.with_lost_attempts(store.load_batch(batch_id), entries)
    summary = summarise(batch, entries, labels=stored_evidence(store, batch))
    runs = list(sample_runs(store, entries))
    scored = newest_scorings(store, batch, entries, MOST_SCORES)
    choices = tool_choices(store.load_runs(batch_id)) if has_tool_choices(batch) else []
    return Exported(render(summary, batch, runs, entries.skipped, *scored, choices), summary, entries.skipped)


def first_runs(results: Iterable[AgentRunResult]) -> list[AgentRunResult]:
    """Return as many failed and passed runs as `export` would read: more would not change what is shown."""
    counts: Counter[Outcome] = Counter()
    runs = []
    for result in results:
        counts[result.outcome] += 1
        if counts[result.outcome] <= MOST_READ:
            runs.append(result)
    return runs


def render(
    summary: BatchSummary,
    batch: Batch,
    runs: Sequence[AgentRunResult],
    unreadable: int = 0,
    scored: Sequence[ScoredAgain] = (),
    older_scorings: int = 0,
    choices: Sequence[PromptChoices] = (),
) -> str:
    """Return the file. `runs` are the failed and passed runs to show and compare, which may be a part of them.

    `choices` are those of a model among the tools of an MCP server.
    """
    return render_page(
        _PACKAGE,
        "batch.html",
        title=f"{summary.verdict.upper()} – {summary.scenario_id} {summary.batch_id}",
        style=_style("Salvo: results of one batch of runs."),
        scored=scored,
        older_scorings=older_scorings,
        **_batch_context(summary, batch, runs, TruncationBudget(_BUDGET), unreadable, choices=choices),
    )


def render_suite(
    summaries: Sequence[BatchSummary],
    batches: Mapping[str, Batch],
    results: Mapping[str, Sequence[AgentRunResult]],
    choices: Mapping[str, Sequence[PromptChoices]],
) -> str:
    """Return several batches as one file: all of them in a table, and a few in full. Mappings are by batch id."""
    in_full = worth_a_table(summaries, verbose=False)
    grids = build_grids(summaries)
    in_grids = {cell.batch_id for grid in grids for cell in grid.cells}
    budget = TruncationBudget(_BUDGET)
    parts = []
    for summary in in_full:
        batch_id = summary.batch_id
        anchor = f"{batch_id}-"
        runs, chosen = results.get(batch_id, ()), choices.get(batch_id, ())
        context = _batch_context(summary, batches[batch_id], runs, budget, anchor=anchor, choices=chosen)
        header, body = (render_part(_PACKAGE, f"batch_{name}.html", **context) for name in ("header", "results"))
        parts.append((batch_id, header, body))
    return render_page(
        _PACKAGE,
        "suite.html",
        title=f"Salvo – {totals(summaries)}",
        style=_style("Salvo: results of several scenarios."),
        signs=SIGNS,
        **_FUNCTIONS,
        headline=totals(summaries),
        summaries=[summary for summary in summaries if summary.batch_id not in in_grids],
        scenarios=len(summaries),
        grids=[(item, list(notes(item)), *split_cells(item)) for item in grids],
        grid_headline=sentence_headline,
        variant_row=variant_row,
        cell_row=cell_row,
        shown={summary.batch_id for summary in in_full},
        parts=parts,
        version=__version__,
    )


def _batch_context(
    summary: BatchSummary,
    batch: Batch,
    runs: Sequence[AgentRunResult],
    budget: TruncationBudget,
    unreadable: int = 0,
    anchor: str = "",
    choices: Sequence[PromptChoices] = (),
) -> dict[str, Any]:
    """Return what the templates of a batch show. `anchor` begins the ids of its elements, if it is one of several."""
    ordered = sorted((run for run in runs if run.batch_id == batch.batch_id), key=lambda run: run.number)
    failed = [run for run in ordered if run.outcome is Outcome.FAILED]
    passed = [run for run in ordered if run.outcome is Outcome.PASSED]
    in_full = failed[:MOST_FAILURES]
    divergence = find_divergence(tool_path(run) for run in (*failed, *passed))
    reason = labels.why(summary)
    resolved = {name: value for name, value in batch.scenario.items() if value not in _EMPTY}
    choice_rows = [choice_row(row) for row in choices[:MOST_PROMPTS]]
    return {
        "signs": SIGNS,
        **_FUNCTIONS,
        "anchor": anchor,
        "summary": summary,
        "batch": batch,
        "reason": f"{reason[0].upper()}{reason[1:]}.",
        "remarks": list(_remarks(summary)),
        "unreadable": f"{pluralize(unreadable, 'run')} could not be read from the store." if unreadable else "",
        "facts": _facts(summary),
        "figures": [NamedValue(row.name.capitalize(), row.value) for row in labels.figures(summary)],
        "choices": choice_rows,
        "choice_notes": choice_notes(choice_rows),
        "hidden_choices": len(choices[MOST_PROMPTS:]),
        "divergence": divergence,
        "compared": side_by_side(*_pair(divergence, failed, passed), batch.scenario) if failed and passed else None,
        "failures": [failure for failure in summary.failures if failure.number in {run.number for run in in_full}],
        "runs": [run_view(run, batch.scenario, budget) for run in in_full],
        "skipped": labels.skipped(summary),
        "pending": labels.pending(summary),
        "scenario_fields": [
            NamedValue(name, format_value(value)) for name, value in resolved.items() if _is_short(value)
        ],
        "scenario_values": list(_scenario_values(resolved)),
        "settings": _settings(batch),
        "recorded": [failure.run_id for failure in summary.failures if failure.recorded],
    }


@cache
def _style(footer: str) -> str:
    return stylesheet(_PACKAGE, "batch.css") + print_margins(footer)


def _remarks(summary: BatchSummary) -> Iterator[str]:
    yield from labels.stopped(summary)
    yield from labels.tolerated_failures(summary)
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


def _pair(
    divergence: Divergence | None, failed: Sequence[AgentRunResult], passed: Sequence[AgentRunResult]
) -> tuple[AgentRunResult, AgentRunResult]:
    """Return the two runs that the divergence names, or the first failed run and the passed one nearest to it."""
    by_id = {run.run_id: run for run in (*failed, *passed)}
    if divergence is not None:
        return by_id[divergence.failing.run_id], by_id[divergence.passing.run_id]
    near = nearest(tool_path(failed[0]), map(tool_path, passed))
    return failed[0], by_id[near.run_id] if near else passed[0]


def _scenario_values(resolved: Mapping[str, Any]) -> Iterator[tuple[str, Any, int | None, bool]]:
    """Yield the long values of a scenario: name, value, full length if truncated, and whether it is unfolded."""
    budget = TruncationBudget()
    for name, value in resolved.items():
        if not _is_short(value):
            yield name, *budget.fit(value), isinstance(value, str)


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
        "One-sided": "yes" if batch.one_sided else None,
        "Maximum number of runs": batch.max_runs,
        "Recorded": "yes" if batch.recorded else "no",
        "Git commit": batch.code.commit_text,
        "Hash of the agent's code": batch.code.agent,
        **batch.settings,
    }
    return [NamedValue(name, format_value(value)) for name, value in settings.items() if value not in _EMPTY]


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _SHORT and "\n" not in value
    return not isinstance(value, Mapping | list)
