"""/api/batches/{id}: one batch with its grid, scores, tool choices and runs, and its HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import NamedValue
from salvo.records import record
from salvo.scenarios.analysis.comparison_inputs import suite_summaries
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.grid import Grid, build_grids
from salvo.scenarios.analysis.scored_again import ChangedVerdict, ScoredAgain, newest_scorings
from salvo.scenarios.analysis.summary import (
    AssertionSummary,
    BatchSummary,
    BatchVerdict,
    Cost,
    FailureGroup,
    failure_groups,
)
from salvo.scenarios.analysis.tool_choices import has_tool_choices, tool_choices
from salvo.scenarios.labels.requirement import has_judge
from salvo.scenarios.report import html
from salvo.scenarios.report.grid import grid_rate_labels, sentence_headline, standing
from salvo.scenarios.report.grid import notes as grid_notes
from salvo.scenarios.report.labels import CAUSES, RateLabels, figures, rate_labels, verdict_sentence, why
from salvo.scenarios.report.tool_choices import ToolChoiceRow, choice_row
from salvo.scenarios.result import Batch, Cause, Outcome
from salvo.scenarios.shards import is_named
from salvo.scenarios.store.index import IndexEntry
from salvo.web.request_models import MAX_NAME_LENGTH, Offset
from salvo.web.responses import JsonRoute, file_response, file_route
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/batches/{batch_id}", tags=["batches"], route_class=JsonRoute)

MAX_CELLS = 500
MAX_LISTED = 50
"""Failures of a batch, and runs of a group, in a response. /runs has all runs."""

MAX_SCORES = 10
MAX_PROMPTS = 200


@record
class BatchDetail:
    summary: BatchSummary
    """Lists of failures and of runs have at most 50 entries; counts are complete."""
    why: str
    """The reason for the verdict, as in the terminal."""
    verdict_label: str
    """What the verdict means, as a sentence."""
    labels: RateLabels
    """As in the terminal."""
    figures: list[NamedValue]
    """Pass rate, pass^k, cost and latency as text, as in the terminal."""
    failure_groups: list[FailureGroup]
    """All failed runs by the assertions that failed, largest group first. Lists of runs have at most 50 entries."""
    cause_labels: Mapping[Cause, str]
    """As in the terminal."""
    batch: Batch
    divergence: Divergence | None
    """Where failed and passed runs diverge, from the first 50 of each."""
    is_judged: bool
    """Whether a model judges its runs, so that people can label them."""
    is_named: bool
    """Whether several commands may make its runs (`--batch`, `--shard`). Then it cannot be resumed by its id."""
    running: bool
    """As in the list: whether runs are missing and the batch changed recently."""
    skipped: int
    """Runs or index lines that could not be read."""


@router.get("", operation_id="getBatch")
def show(batch_id: str, services: ServicesDep) -> BatchDetail:
    """Return a batch: its settings, the results of its runs, and where they diverge."""
    cached = services.catalog.find(batch_id)
    summary = replace(
        cached.summary,
        failures=cached.summary.failures[:MAX_LISTED],
        error_groups=[replace(group, run_ids=group.run_ids[:MAX_LISTED]) for group in cached.summary.error_groups],
        not_made=[replace(group, run_ids=group.run_ids[:MAX_LISTED]) for group in cached.summary.not_made],
    )
    groups = failure_groups(cached.summary.failures)
    return BatchDetail(
        summary=summary,
        why=why(cached.summary),
        verdict_label=verdict_sentence(cached.summary),
        labels=rate_labels(cached.summary),
        figures=list(figures(cached.summary)),
        failure_groups=[replace(group, run_ids=group.run_ids[:MAX_LISTED]) for group in groups],
        cause_labels=CAUSES,
        batch=cached.batch,
        divergence=services.catalog.divergence(cached),
        is_judged=has_judge(cached.batch.scenario),
        is_named=is_named(cached.batch.batch_id),
        running=services.catalog.is_running(cached),
        skipped=cached.row.skipped,
    )


@record
class GridDetail:
    """All cells of a batch's suite in its command."""

    grid: Grid
    """It lists at most 500 cells; its means and comparisons are over all of them."""
    headline: str
    notes: list[str]
    """The mean of the suite, and how variants were compared, as in the terminal."""
    standings: list[str]
    """How each variant compares with the best one, in the order of the variants."""
    variant_labels: list[RateLabels]
    cell_labels: list[RateLabels]
    """Rates and intervals as text, in the order of the variants and of the cells."""
    hidden_cells: int
    """Cells that are not listed."""
    skipped: int
    """Runs or index lines that could not be read."""


@router.get("/grid", operation_id="getGrid")
def grid(batch_id: str, services: ServicesDep) -> GridDetail:
    """Return the cells of cases and matrix that the batch is one of: variants, comparisons and verdicts."""
    store = services.catalog.store
    batch = store.load_batch(store.find_batch(batch_id))
    summaries, skipped = suite_summaries(store, batch, services.catalog.list_entries)
    [made] = build_grids(summaries)
    shown = replace(made, cells=made.cells[:MAX_CELLS])
    return GridDetail(
        grid=shown,
        headline=sentence_headline(made),
        notes=list(grid_notes(made)),
        standings=[standing(variant, made) for variant in made.variants],
        variant_labels=list(map(grid_rate_labels, made.variants)),
        cell_labels=list(map(grid_rate_labels, shown.cells)),
        hidden_cells=len(made.cells) - len(shown.cells),
        skipped=skipped,
    )


@record
class ScoreDetail:
    """The verdicts of one `salvo score` on the runs of a batch."""

    score_id: str
    created_at: str
    source: str
    """The scenario file whose assertions were used."""
    verdict: BatchVerdict
    why: str
    """The reason for the verdict, as in the terminal."""
    completed: int
    passed: int
    pass_rate: float | None
    interval: Interval
    min_pass_rate: float
    labels: RateLabels
    """As in the terminal."""
    assertions: list[AssertionSummary]
    sentence: str
    """How many verdicts differ from those of the batch."""
    changed: list[ChangedVerdict]
    """The runs whose verdict differs; at most 50."""
    judge_cost: Cost
    unreadable: int
    """Scores that could not be read."""


@record
class BatchScores:
    scores: list[ScoreDetail]
    """The newest 10, newest first."""
    older: int
    """Scorings that are not listed."""


@router.get("/scores", operation_id="listScores")
def scores(batch_id: str, services: ServicesDep) -> BatchScores:
    """Return what `salvo score` came to on the runs of a batch: its verdict is not changed by that."""
    cached = services.catalog.find(batch_id)
    newest, older = newest_scorings(services.catalog.store, cached.batch, cached.entries, MAX_SCORES)
    return BatchScores(list(map(_score_detail, newest)), older)


def _score_detail(scored: ScoredAgain) -> ScoreDetail:
    summary = scored.summary
    return copy_fields(
        ScoreDetail,
        summary,
        score_id=scored.scoring.score_id,
        why=why(summary),
        labels=rate_labels(summary),
        sentence=scored.sentence,
        changed=scored.changes.changed[:MAX_LISTED],
        unreadable=scored.unreadable,
    )


@record
class ToolChoiceTable:
    """Which tools a model chose for which prompt, over all runs of a batch."""

    rows: list[ToolChoiceRow]
    """At most 200, in the order of the scenario; empty if it has no prompts."""
    hidden_rows: int


@router.get("/choices", operation_id="listToolChoices")
def choices(batch_id: str, services: ServicesDep) -> ToolChoiceTable:
    """Return which tools a model chose for which prompt of a scenario with the adapter `mcp`, as `salvo choices`."""
    store = services.catalog.store
    batch = store.load_batch(store.find_batch(batch_id))
    rows = tool_choices(store.load_runs(batch.batch_id)) if has_tool_choices(batch) else []
    return ToolChoiceTable(list(map(choice_row, rows[:MAX_PROMPTS])), len(rows[MAX_PROMPTS:]))


@router.get(
    "/export",
    operation_id="exportBatch",
    **file_route("text/html"),
)
def export(batch_id: str, services: ServicesDep) -> Response:
    """Return the batch as one self-contained HTML file, as `salvo report --html` writes it."""
    store = services.catalog.store
    exported = html.export(store, store.find_batch(batch_id))
    content = exported.html.encode("utf-8", "replace")
    return file_response(content, f"salvo-batch-{exported.summary.batch_id}.html", "text/html")


@record
class RunPage:
    """Ordered by run number."""

    rows: list[IndexEntry]
    offset: int
    limit: int
    more: bool
    total: int
    """The number of matching runs on all pages."""


@router.get("/runs", operation_id="listRuns")
def runs(
    batch_id: str,
    services: ServicesDep,
    outcome: Outcome | None = None,
    assertion: Annotated[
        str | None, Query(max_length=MAX_NAME_LENGTH, description="Only runs in which this assertion did not pass.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Offset = 0,
) -> RunPage:
    """Return the runs of a batch from the index."""
    cached = services.catalog.find(batch_id)
    matches = [
        entry
        for entry in cached.entries
        if (outcome is None or entry.outcome is outcome)
        and (not assertion or any(result.label == assertion and not result.passed for result in entry.assertions))
    ]
    rows = matches[offset : offset + limit]
    return RunPage(rows, offset, limit, offset + len(rows) < len(matches), len(matches))
