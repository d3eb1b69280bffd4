"""`salvo score`: score stored runs again with a new rubric, judge or assertion."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output_options import json_option, output_option
from salvo.cli.param_types import DOLLARS, FILE_PATH, NUMBER_AT_ONCE
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.batch_judging import submit_scores
from salvo.cli.salvo.call_limit_options import call_limit_options
from salvo.cli.salvo.judges_option import judges_option
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.run_output import batch_exit_code, check_outputs
from salvo.cli.salvo.score_output import show_scoring
from salvo.cli.salvo.store_option import store_option
from salvo.cli.salvo.transcript_run import OnDone, TranscriptRun
from salvo.engine.runtime.pool import TERMINATED, PoolStopped
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.destinations import judge_destination_lines
from salvo.scenarios.result import Cause, Outcome, SkippedRun
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.run.permanent_faults import check_endpoints
from salvo.scenarios.run.runner import INTERRUPTED
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.score import SAME_FAULT, ScorePlan, ScoreSession, plan_resumed_score, plan_score
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import LATEST
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.score_store import ScoreStore
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("batch_id", metavar="[BATCH]", required=False)
@click.argument("scenario", required=False, type=FILE_PATH)
@click.option("-j", "--concurrency", type=NUMBER_AT_ONCE, default=10, show_default=True, help="Runs at once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more runs are scored.")
@judges_option
@click.option("--resume", metavar="SCORE", help="Only score the runs that an earlier scoring lacks.")
@output_option("Also write a file: .json, .jsonl, .xml (JUnit) or .md.")
@call_limit_options("120")
@prices_option
@allow_env_option
@json_option
@store_option
def score(
    batch_id: str | None,
    scenario: Path | None,
    concurrency: int,
    max_cost: float | None,
    judges: str,
    resume: str | None,
    outputs: tuple[Path, ...],
    price_file: Path | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    store_address: str | None,
    **call_limits: Any,
) -> None:
    """Score stored runs again with a new rubric, judge or assertion. Only judges are called.

    BATCH is any unique prefix of a batch's id, or latest. SCENARIO is the scenario file whose assertions, threshold
    and min_pass_rate are used; without one, the file of the batch as it is now. Neither the agent nor a tool runs:
    the only code that runs is that of your own assertions in SCENARIO. What the agent was asked is what the batch says.

    The batch is not changed. The new scores are stored beside it with an id of their own, which `salvo report` and
    `salvo compare` take in place of a batch.

    Exits as `salvo run` does: 0 when the scenario passes, 1 when it fails, 2 on bad usage or an invalid file, 3 when
    something could not be judged or waits for its votes (`salvo collect`), 4 when the runs cannot show it with the
    required confidence, and 130 when interrupted (--resume continues).
    """
    check_outputs(outputs)
    project = Project.find(store_address=store_address)
    workspace = Workspace(
        project, allow_env=frozenset(allow_env), call_limits=CallLimits(**call_limits), price_file=price_file
    )
    store = workspace.store()
    scores = ScoreStore(store)
    enter = click.get_current_context().with_resource
    if resume is not None:
        if batch_id is not None or judges == "batch":
            raise click.UsageError(
                "--resume continues a scoring as it was started: it takes no BATCH, no SCENARIO and no --judges."
            )
        scoring = scores.load(scores.find(resume))
        enter(scores.hold(scoring.score_id, workspace.clock.now().isoformat()))
        plan = plan_resumed_score(workspace, scoring)
    else:
        batch = store.load_batch(store.find_batch(batch_id or LATEST))
        plan = plan_score(workspace, batch, scenario, batch_judges=judges == "batch")
    verb = "prepared" if plan.scoring.batch_judges else "done"
    work = TranscriptRun(workspace, "runs", len(plan.pending), concurrency, max_cost, verb)
    for note in plan.notes:
        work.print(f"Note: {printable(note)}")
    stopped: list[PoolStopped] = []
    if plan.pending:
        for line in judge_destination_lines(workspace, plan.prepared.scenario):
            work.print(line)
        check_endpoints([plan.prepared], workspace.all_endpoints(), only_judges=True)
        enter(scores.hold(plan.scoring.score_id, workspace.clock.now().isoformat()))
        scores.save(plan.scoring)  # before the first call, so that it can be resumed
        stopped = asyncio.run(work.run(partial(_score, plan, store, work)))
        if plan.scoring.batch_judges and not work.interrupted:
            submit_scores(workspace, plan)
    skipped = _skipped(plan, scores.load_entries(plan.scoring.score_id), stopped)
    summary = show_scoring(store, plan.scoring, plan.prepared.batch, skipped, outputs, as_json=as_json)
    raise SystemExit(ExitCode.INTERRUPTED if work.interrupted else batch_exit_code([summary]))


async def _score(
    plan: ScorePlan, store: RunStore, work: TranscriptRun, transcripts: TranscriptSession, on_done: OnDone
) -> list[PoolStopped]:
    session = ScoreSession(transcripts, store, on_done)
    stopped = await session.score(plan)
    for problem in session.unreadable:
        work.print(f"Not scored: {printable(problem)}")
    return stopped


def _skipped(plan: ScorePlan, entries: Entries, stopped: list[PoolStopped]) -> dict[int, SkippedRun]:
    """Return the runs that were not scored, by number, with the reason."""
    if not stopped:
        return {}
    reason = stopped[0].reason
    if reason in (INTERRUPTED, TERMINATED):
        cause = Cause.INTERRUPTED
    else:
        cause = Cause.JUDGE if reason.startswith(SAME_FAULT) else Cause.BUDGET
    scored = {entry.number for entry in entries}
    return {number: SkippedRun(Outcome.NOT_RUN, cause, reason) for number in plan.pending if number not in scored}
