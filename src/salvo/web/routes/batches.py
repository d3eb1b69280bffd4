"""/api/batches: what the stored runs of scenarios came to, over time, and how two batches differ."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from salvo.engine.stats import Interval
from salvo.scenarios.analysis.comparison_inputs import compared, pair_named
from salvo.scenarios.analysis.divergence import Divergence
from salvo.scenarios.analysis.summary import BatchSummary, BatchVerdict, FailureGroup, failure_groups
from salvo.scenarios.report import html_export as exporting
from salvo.scenarios.report.comparison import ComparisonDocument, document
from salvo.scenarios.report.labels import why
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.batch_catalog import BatchRow
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.watcher import StoreWatcher
from salvo.web import events
from salvo.web.request_models import LONGEST_NAME, Name
from salvo.web.responses import Json
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/batches", tags=["batches"])

LOOK_AGAIN = 1.0
"""Seconds between two looks at the store, while somebody watches."""
MOST_IN_SERIES = 20_000
"""Runs that the points over time are made of: the newest."""
MOST_LISTED = 50
"""Failures, and runs of a group, that a batch lists. All of its runs are at /runs."""

OnlyScenario = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only this scenario.")]
Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]


@dataclass(frozen=True, slots=True)
class BatchPage:
    """The newest first."""

    rows: list[BatchRow]
    offset: int
    limit: int
    more: bool
    """Whether there are older ones."""
    skipped: int
    """Batches, runs and lines of the index, of those that were looked at, that could not be read."""
    place: str
    """The store's folder."""


@router.get("", operation_id="listBatches", response_model=BatchPage)
def batches(
    at: ServicesDep,
    scenario: OnlyScenario = None,
    model: Annotated[
        str | None, Query(max_length=LONGEST_NAME, description="Only this model, alone or with its provider.")
    ] = None,
    verdict: BatchVerdict | None = None,
    search: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Looked for in ids, scenarios, providers, models, files.")
    ] = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> Json:
    """Every batch of the folder that is shown; the first page reads the newest ones only."""
    skipped = 0
    rows: list[BatchRow] = []
    passed = 0
    asked = bool(scenario or model or verdict or search)
    for row in at.shelf.rows(0 if asked else offset):
        if row is None:
            skipped += 1
            continue
        if not _is_wanted(row, scenario, model, verdict, search):
            continue
        passed += 1
        if asked and passed <= offset:
            continue
        rows.append(row)
        if len(rows) > limit:
            break
    skipped += sum(row.skipped for row in rows[:limit]) + at.shelf.unreadable
    return Json(BatchPage(rows[:limit], offset, limit, len(rows) > limit, skipped, str(at.shelf.store.folder)))


def _is_wanted(
    row: BatchRow, scenario: str | None, model: str | None, verdict: BatchVerdict | None, search: str
) -> bool:
    names = (row.batch_id, row.scenario_id, f"{row.provider}/{row.model}", row.source)
    return (
        (not scenario or row.scenario_id == scenario)
        and (not model or model in (row.model, f"{row.provider}/{row.model}"))
        and (verdict is None or row.verdict is verdict)
        and (not search or any(search.casefold() in name.casefold() for name in names))
    )


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    batch_id: str
    created_at: str
    verdict: BatchVerdict
    runs: int
    completed: int
    passed: int
    pass_rate: float | None
    interval: Interval
    min_pass_rate: float
    average_cost: float | None
    """Dollars, over the completed runs; null where one of them has a cost that is not known."""
    latency_p50: float | None
    latency_p95: float | None


@dataclass(frozen=True, slots=True)
class Series:
    """The batches of one scenario with one model, the oldest first."""

    scenario_id: str
    provider: str
    model: str
    points: list[SeriesPoint]


@dataclass(frozen=True, slots=True)
class AllSeries:
    series: list[Series]
    more: bool
    """Whether there are older batches than these: at most the newest 20,000 runs are looked at."""
    skipped: int


@router.get("/series", operation_id="listSeries", response_model=AllSeries)
def series(at: ServicesDep, scenario: OnlyScenario = None) -> Json:
    """Pass rates, costs and latencies over time: for each scenario and model its batches, the oldest first."""
    found: dict[tuple[str, str, str], list[SeriesPoint]] = {}
    skipped = runs = 0
    more = False
    for row in at.shelf.rows():
        if row is None:
            skipped += 1
            continue
        if scenario and row.scenario_id != scenario:
            continue
        runs += row.runs
        if runs > MOST_IN_SERIES and found:
            more = True
            break
        found.setdefault((row.scenario_id, row.provider, row.model), []).append(_point(row))
    return Json(AllSeries([Series(*key, points[::-1]) for key, points in sorted(found.items())], more, skipped))


def _point(row: BatchRow) -> SeriesPoint:
    return SeriesPoint(
        batch_id=row.batch_id,
        created_at=row.created_at,
        verdict=row.verdict,
        runs=row.runs,
        completed=row.completed,
        passed=row.passed,
        pass_rate=row.pass_rate,
        interval=row.interval,
        min_pass_rate=row.min_pass_rate,
        average_cost=row.cost.average,
        latency_p50=row.latency.p50 if row.latency else None,
        latency_p95=row.latency.p95 if row.latency else None,
    )


@router.get("/events", operation_id="watchBatches", response_class=events.EventStream)
async def watch(at: ServicesDep) -> events.EventStream:
    """Server-sent events: watching, at once; then changed, with the ids of the batches that are new or got runs.

    Whoever was away is not told what happened meanwhile: after watching, ask again for what is shown.
    """
    return events.stream(_changes(at))


async def _changes(at: Services) -> AsyncIterator[bytes]:
    store = at.shelf.store
    watch = await asyncio.to_thread(StoreWatcher, store)
    yield events.event("watching", events.Watching(str(store.folder)))
    silent = 0.0
    while not await events.set_within(LOOK_AGAIN, at.closing):
        changed = await asyncio.to_thread(watch.look)
        silent = 0.0 if changed else silent + LOOK_AGAIN
        if changed:
            yield events.event("changed", events.Changed(changed))
        elif silent >= events.SILENCE:
            silent = 0.0
            yield events.NO_NEWS


class Sides(BaseModel):
    """Two batches, by id, by the beginning of one, or latest."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"a": "1m7h", "b": "latest"}]})

    a: Name
    b: Name
    whole: bool = Field(False, description="All scenarios of the two commands that they belong to.")


@router.post("/compare", operation_id="compareBatches", response_model=ComparisonDocument)
def compare(sides: Sides, at: ServicesDep) -> Json:
    """Is B better or worse than A, or can these runs not tell? As `salvo compare --json` has it."""
    store = at.shelf.store
    pairs, notes = pair_named(store, sides.a, sides.b, whole=sides.whole)
    return Json(document(compared(store, pairs, notes, at.shelf.listed)))


@dataclass(frozen=True, slots=True)
class BatchDetail:
    summary: BatchSummary
    """Its lists of failures, and of runs in a group, end at 50; their counts do not."""
    why: str
    """The verdict's reason, in the words of the terminal."""
    failure_groups: list[FailureGroup]
    """All failed runs by what they failed by, the largest group first. Their lists of runs end at 50."""
    batch: Batch
    parting: Divergence | None
    """Where failing and passing runs part, by the first 50 of each."""
    running: bool
    """As in the list: whether runs are missing and something happened of late."""
    skipped: int
    """Runs, or lines of the index, that could not be read."""


@router.get("/{batch_id}", operation_id="getBatch", response_model=BatchDetail)
def show(batch_id: str, at: ServicesDep) -> Json:
    """A batch: what was asked for, what its runs came to, and where they part."""
    found = at.shelf.shelved(at.shelf.store.find_batch(batch_id))
    summary = replace(
        found.summary,
        failures=found.summary.failures[:MOST_LISTED],
        error_groups=[replace(group, run_ids=group.run_ids[:MOST_LISTED]) for group in found.summary.error_groups],
        not_made=[replace(group, run_ids=group.run_ids[:MOST_LISTED]) for group in found.summary.not_made],
    )
    groups = failure_groups(found.summary.failures)
    return Json(
        BatchDetail(
            summary=summary,
            why=why(found.summary),
            failure_groups=[replace(group, run_ids=group.run_ids[:MOST_LISTED]) for group in groups],
            batch=found.batch,
            parting=at.shelf.parting(found),
            running=at.shelf.is_running(found),
            skipped=found.row.skipped,
        )
    )


@router.get(
    "/{batch_id}/export",
    operation_id="exportBatch",
    response_class=Response,
    responses={200: {"content": {"text/html": {}}, "description": "The file."}},
)
def export(batch_id: str, at: ServicesDep) -> Response:
    """The batch as one self-contained HTML file, as `salvo report --html` writes it."""
    store = at.shelf.store
    exported = exporting.export(store, store.find_batch(batch_id))
    content = exported.html.encode("utf-8", "replace")
    named = f'attachment; filename="salvo-batch-{exported.summary.batch_id}.html"'
    return Response(content, media_type="text/html", headers={"content-disposition": named})


@dataclass(frozen=True, slots=True)
class RunPage:
    """In the order of their numbers."""

    rows: list[IndexEntry]
    offset: int
    limit: int
    more: bool
    total: int
    """How many there are in all that were asked for."""


@router.get("/{batch_id}/runs", operation_id="listRuns", response_model=RunPage)
def runs(
    batch_id: str,
    at: ServicesDep,
    outcome: Outcome | None = None,
    assertion: Annotated[
        str | None, Query(max_length=LONGEST_NAME, description="Only runs in which this assertion did not pass.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Offset = 0,
) -> Json:
    """The runs of a batch as they are listed, from the index."""
    found = at.shelf.shelved(at.shelf.store.find_batch(batch_id))
    wanted = [of for of in found.entries if _is_asked(of, outcome, assertion)]
    rows = wanted[offset : offset + limit]
    return Json(RunPage(rows, offset, limit, offset + len(rows) < len(wanted), len(wanted)))


def _is_asked(of: IndexEntry, outcome: Outcome | None, assertion: str | None) -> bool:
    failed = not assertion or any(judged.label == assertion and not judged.passed for judged in of.assertions)
    return failed and (outcome is None or of.outcome is outcome)
