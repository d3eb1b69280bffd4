"""/api/runs: one run with its steps, its comparison with another run, and its stored file."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter, Response

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.errors import StoreError, TapeError
from salvo.records import record
from salvo.scenarios.analysis.comparison_inputs import nearest_counterpart
from salvo.scenarios.analysis.trajectories.alignment import SideBySide, align
from salvo.scenarios.analysis.trajectories.trajectory import Trajectory, trajectory
from salvo.scenarios.analysis.trajectories.truncation import (
    TruncationBudget,
    truncate_assertions,
    truncate_side_by_side,
    truncate_trajectory,
)
from salvo.scenarios.report import labels
from salvo.scenarios.result import (
    AgentRunResult,
    Cause,
    EvalResult,
    Outcome,
    Replayable,
    RunIdentity,
    RunMetrics,
    Stopped,
)
from salvo.web.responses import JsonRoute, file_response, file_route
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/runs", tags=["runs"], route_class=JsonRoute)


@record
class TurnHead:
    """A turn of a conversation without what was said, which the steps of the trajectory have."""

    number: int
    stopped: Stopped | None
    metrics: RunMetrics
    user_tries: int


@record
class RunHead(RunIdentity):
    """A run without its steps. Long values are truncated; /raw has the whole run."""

    seed: int | None
    outcome: Outcome
    cause: Cause | None
    cause_label: str
    """As in the terminal; empty without a cause."""
    passed: bool
    weighted_score: float | None
    error: str | None
    metrics: RunMetrics
    judge_cost: float | None
    user_cost: float | None
    turns: list[TurnHead]
    """The turns of a conversation; empty if it is none."""
    eval_results: list[EvalResult]
    recorded: bool
    replayable: Replayable
    replay_note: str
    replay_label: str
    """How far it can be replayed, as a sentence; `replay_note` says more, if it is not empty."""
    salvo_version: str
    cut: dict[str, int]
    """The truncated values of eval_results, such as "0.actual", each with its full length in characters."""


@record
class RunDetail:
    run: RunHead
    trajectory: Trajectory
    partner: str | None
    """The run to compare it with: of the same batch, with the opposite outcome and the longest common tool path."""


@router.get("/{run_id}", operation_id="getRun")
def show(run_id: str, services: ServicesDep) -> RunDetail:
    """Return a run: its messages and tool calls, and the results of its assertions at the steps they concern."""
    run, steps = _load(run_id, services)
    budget = TruncationBudget()
    return RunDetail(_head(run, budget), truncate_trajectory(steps, budget), _partner(run, services))


@router.get(
    "/{run_id}/raw",
    operation_id="downloadRun",
    **file_route("application/json"),
)
def raw(run_id: str, services: ServicesDep) -> Response:
    """Return the whole run as it is stored."""
    store = services.catalog.store
    run = store.load_run(store.find_run(run_id))
    return file_response(json_codec.dumps(run, indent=2), f"salvo-run-{run.run_id}.json", "application/json")


@record
class RunComparison:
    a: RunHead
    b: RunHead
    steps: SideBySide


@router.get("/{run_a}/beside/{run_b}", operation_id="getRunsBeside")
def side_by_side(run_a: str, run_b: str, services: ServicesDep) -> RunComparison:
    """Compare two runs step by step, and mark the first row that differs. Times and ids are ignored."""
    (a, steps_a), (b, steps_b) = (_load(run_id, services) for run_id in (run_a, run_b))
    return RunComparison(
        _head(a, TruncationBudget()), _head(b, TruncationBudget()), truncate_side_by_side(align(steps_a, steps_b))
    )


def _load(run_id: str, services: Services) -> tuple[AgentRunResult, Trajectory]:
    store = services.catalog.store
    run = store.load_run(store.find_run(run_id))
    scenario = None
    with suppress(StoreError, TapeError):  # only the batch has the scenario
        scenario = store.load_batch(run.batch_id).scenario
    return run, trajectory(run, scenario)


def _partner(run: AgentRunResult, services: Services) -> str | None:
    try:
        entries = services.catalog.get(run.batch_id).entries
    except (StoreError, TapeError):
        return None
    return nearest_counterpart(services.catalog.store, run, entries)


def _head(run: AgentRunResult, budget: TruncationBudget) -> RunHead:
    results, truncated = truncate_assertions(run.eval_results, budget)
    error, _ = budget.fit(run.error)
    return copy_fields(
        RunHead,
        run,
        cause_label=labels.describe_cause(run.cause),
        error=error,
        eval_results=results,
        turns=[copy_fields(TurnHead, turn) for turn in run.turns],
        replay_label=labels.REPLAYS[run.replayable],
        cut=truncated,
    )
