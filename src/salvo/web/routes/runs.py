"""/api/runs: one run with its steps, beside another, and as it is stored."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from fastapi import APIRouter, Response

from salvo.engine.jsonio import json_codec
from salvo.errors import StoreError, TapeError
from salvo.scenarios.analysis.alignment import SideBySide, align
from salvo.scenarios.analysis.nearest_run import nearest_counterpart
from salvo.scenarios.analysis.trajectory import Trajectory, trajectory
from salvo.scenarios.analysis.truncation import TruncationBudget, assertions, shortened, shortened_rows
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, Outcome, Replayable, RunMetrics
from salvo.web.responses import Json
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/runs", tags=["runs"])


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run without its steps. Long values are cut short, and said so; /raw has all of it."""

    run_id: str
    batch_id: str
    scenario_id: str
    number: int
    provider: str
    model: str
    timestamp: str
    seed: int | None
    outcome: Outcome
    cause: Cause | None
    passed: bool
    weighted_score: float | None
    error: str | None
    metrics: RunMetrics
    judge_cost: float | None
    eval_results: list[EvalResult]
    recorded: bool
    replayable: Replayable
    replay_note: str
    salvo_version: str
    cut: dict[str, int]
    """Which values of its eval_results are cut short, such as "0.actual", each with its characters in full."""


@dataclass(frozen=True, slots=True)
class RunDetail:
    run: RunHead
    trajectory: Trajectory
    partner: str | None
    """The run to look at beside it: of the same batch and the other kind, with the most of its way in common."""


@router.get("/{run_id}", operation_id="getRun", response_model=RunDetail)
def show(run_id: str, at: ServicesDep) -> Json:
    """A run: what was said and done in it, and what its assertions came to, each at the step that it concerns."""
    run, steps = _read(run_id, at)
    room = TruncationBudget()
    return Json(RunDetail(_head(run, room), shortened(steps, room), _partner(run, at)))


@router.get(
    "/{run_id}/raw",
    operation_id="downloadRun",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}, "description": "The file."}},
)
def raw(run_id: str, at: ServicesDep) -> Response:
    """The run as it is stored, all of it."""
    store = at.shelf.store
    run = store.load_run(store.find_run(run_id))
    named = f'attachment; filename="salvo-run-{run.run_id}.json"'
    content = json_codec.dumps(run, indent=2)
    return Response(content, media_type="application/json", headers={"content-disposition": named})


@dataclass(frozen=True, slots=True)
class Beside:
    a: RunHead
    b: RunHead
    steps: SideBySide


@router.get("/{run_a}/beside/{run_b}", operation_id="getRunsBeside", response_model=Beside)
def side_by_side(run_a: str, run_b: str, at: ServicesDep) -> Json:
    """Two runs, step by step, and the first row in which they differ. Times and ids are no difference."""
    (a, steps_a), (b, steps_b) = (_read(named, at) for named in (run_a, run_b))
    return Json(
        Beside(_head(a, TruncationBudget()), _head(b, TruncationBudget()), shortened_rows(align(steps_a, steps_b)))
    )


def _read(named: str, at: Services) -> tuple[AgentRunResult, Trajectory]:
    store = at.shelf.store
    run = store.load_run(store.find_run(named))
    scenario = None
    with suppress(StoreError, TapeError):  # without its batch it is not known what was asked
        scenario = store.load_batch(run.batch_id).scenario
    return run, trajectory(run, scenario)


def _partner(run: AgentRunResult, at: Services) -> str | None:
    try:
        entries = at.shelf.shelved(run.batch_id).entries
    except (StoreError, TapeError):
        return None
    return nearest_counterpart(at.shelf.store, run, entries)


def _head(run: AgentRunResult, room: TruncationBudget) -> RunHead:
    results, cut = assertions(run.eval_results, room)
    return RunHead(
        run_id=run.run_id,
        batch_id=run.batch_id,
        scenario_id=run.scenario_id,
        number=run.number,
        provider=run.provider,
        model=run.model,
        timestamp=run.timestamp,
        seed=run.seed,
        outcome=run.outcome,
        cause=run.cause,
        passed=run.passed,
        weighted_score=run.weighted_score,
        error=room.fit(run.error)[0],
        metrics=run.metrics,
        judge_cost=run.judge_cost,
        eval_results=results,
        recorded=run.recorded,
        replayable=run.replayable,
        replay_note=run.replay_note,
        salvo_version=run.salvo_version,
        cut=cut,
    )
