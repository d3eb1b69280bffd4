"""/api/batches: the stored batches of scenario runs, their history, and comparisons."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.sse import KEEPALIVE_COMMENT
from pydantic import Field

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.runtime.pool import is_set_within
from salvo.engine.stats.pass_rates import Interval
from salvo.records import record
from salvo.scenarios.analysis.comparison_inputs import compare_batches, find_pairs
from salvo.scenarios.analysis.scored_sides import ScoredSides
from salvo.scenarios.analysis.summary import BatchVerdict
from salvo.scenarios.report.comparison import ComparisonDocument, document
from salvo.scenarios.report.labels import RateLabels, rate_labels
from salvo.scenarios.store.batch_catalog import BatchRow
from salvo.web import events
from salvo.web.request_models import MAX_NAME_LENGTH, Limit, Name, Offset, RequestModel
from salvo.web.responses import JsonRoute
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/batches", tags=["batches"], route_class=JsonRoute)

POLL_SECONDS = 1.0
"""Between two looks at the store, while a client watches."""
MAX_RUNS_IN_SERIES = 20_000
"""The newest runs, from which the points are computed."""

ScenarioQuery = Annotated[str | None, Query(max_length=MAX_NAME_LENGTH, description="Only this scenario.")]


@record
class ListedBatch(BatchRow):
    labels: RateLabels
    """As in the terminal."""


@record
class BatchPage:
    """Newest first."""

    rows: list[ListedBatch]
    offset: int
    limit: int
    more: bool
    """Whether there are older batches."""
    skipped: int
    """Batches, runs and index lines that could not be read."""
    place: str
    """The store's folder."""


@router.get("", operation_id="listBatches")
def batches(
    services: ServicesDep,
    scenario: ScenarioQuery = None,
    model: Annotated[
        str | None, Query(max_length=MAX_NAME_LENGTH, description="Only this model, with or without its provider.")
    ] = None,
    verdict: BatchVerdict | None = None,
    search: Annotated[
        str, Query(max_length=MAX_NAME_LENGTH, description="Searches ids, scenarios, providers, models and files.")
    ] = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> BatchPage:
    """Return the batches of the store, newest first."""
    skipped = 0
    matches: list[BatchRow] = []
    filtered = bool(scenario or model or verdict or search)
    start = offset if filtered else 0
    for row in services.catalog.rows(0 if filtered else offset):
        if row is None:
            skipped += 1
        elif _matches(row, scenario, model, verdict, search):
            matches.append(row)
        if len(matches) > start + limit:
            break
    more = len(matches) > start + limit
    rows = [copy_fields(ListedBatch, row, labels=rate_labels(row)) for row in matches[start : start + limit]]
    skipped += sum(row.skipped for row in rows) + services.catalog.unreadable
    return BatchPage(rows, offset, limit, more, skipped, services.catalog.store.address)


def _matches(row: BatchRow, scenario: str | None, model: str | None, verdict: BatchVerdict | None, search: str) -> bool:
    names = (row.batch_id, row.scenario_id, f"{row.provider}/{row.model}", row.source)
    return (
        (not scenario or row.scenario_id == scenario)
        and (not model or model in (row.model, f"{row.provider}/{row.model}"))
        and (verdict is None or row.verdict is verdict)
        and (not search or any(search.casefold() in name.casefold() for name in names))
    )


@record
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
    labels: RateLabels
    """As in the terminal."""
    average_cost: float | None
    """In dollars, over the completed runs; null if the cost of one of them is unknown."""
    latency_p50: float | None
    latency_p95: float | None


@record
class Series:
    """The batches of one scenario with one model, oldest first."""

    scenario_id: str
    provider: str
    model: str
    points: list[SeriesPoint]


@record
class SeriesList:
    series: list[Series]
    more: bool
    """Whether there are older batches: only the newest 20,000 runs are read."""
    skipped: int


@router.get("/series", operation_id="listSeries")
def list_series(services: ServicesDep, scenario: ScenarioQuery = None) -> SeriesList:
    """Return pass rates, costs and latencies over time, for each scenario and model, oldest first."""
    points: dict[tuple[str, str, str], list[SeriesPoint]] = {}
    skipped = runs = 0
    more = False
    for row in services.catalog.rows():
        if row is None:
            skipped += 1
            continue
        if scenario and row.scenario_id != scenario:
            continue
        runs += row.runs
        if runs > MAX_RUNS_IN_SERIES and points:
            more = True
            break
        points.setdefault((row.scenario_id, row.provider, row.model), []).append(_point(row))
    series = [Series(*key, oldest_last[::-1]) for key, oldest_last in sorted(points.items())]
    return SeriesList(series, more, skipped)


def _point(row: BatchRow) -> SeriesPoint:
    return copy_fields(
        SeriesPoint,
        row,
        labels=rate_labels(row),
        average_cost=row.cost.average,
        latency_p50=row.latency.p50 if row.latency else None,
        latency_p95=row.latency.p95 if row.latency else None,
    )


@router.get("/events", operation_id="watchBatches", response_class=events.EventStream)
async def watch(services: ServicesDep) -> events.EventStream:
    """Send events: watching, immediately; then changed, with the ids of batches that are new or have new runs.

    Changes before the connection are not sent: reload the data after watching.
    """
    return events.stream(_changes(services))


async def _changes(services: Services) -> AsyncIterator[bytes]:
    store = services.catalog.store
    watcher = await asyncio.to_thread(store.index.watcher)
    poll_seconds = POLL_SECONDS * watcher.poll_factor
    yield events.event("watching", events.WatchingEvent(store.address))
    silent = 0.0
    while not await is_set_within(poll_seconds, services.closing):
        changed = await asyncio.to_thread(watcher.look)
        silent = 0.0 if changed else silent + poll_seconds
        if changed:
            yield events.event("changed", events.BatchesChangedEvent(changed))
        elif silent >= events.KEEPALIVE_SECONDS:
            silent = 0.0
            yield KEEPALIVE_COMMENT


class BatchPair(RequestModel, json_schema_extra={"examples": [{"a": "1m7h", "b": "latest"}]}):
    """Two batches, by id, by a prefix of it, or "latest"."""

    a: Name
    b: Name
    whole: bool = Field(False, description="Compare all scenarios of the two commands that the batches belong to.")


@router.post("/compare", operation_id="compareBatches")
def compare(pair: BatchPair, services: ServicesDep) -> ComparisonDocument:
    """Compare B with A: better, worse, or not distinguishable. The document of `salvo compare --json`."""
    store = services.catalog.store
    pairs, notes = find_pairs(store, pair.a, pair.b, all_scenarios=pair.whole)
    return document(
        compare_batches(store, pairs, notes, ScoredSides(store, services.catalog.list_entries).list_entries)
    )
