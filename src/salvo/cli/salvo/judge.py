"""`salvo judge`: judge stored transcripts again, to separate the variation of the judge from the agent's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from salvo import __version__
from salvo.cli.exit_codes import ExitCode
from salvo.cli.param_types import DOLLARS, NUMBER_AT_ONCE
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.batch_judging import submit_judgings
from salvo.cli.salvo.call_limit_options import call_limit_options
from salvo.cli.salvo.judge_output import completed_judgings, show_judgings
from salvo.cli.salvo.judges_option import judges_option
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.store_option import store_option
from salvo.cli.salvo.transcript_run import OnDone, TranscriptRun
from salvo.engine.runtime.pool import PoolStopped
from salvo.errors import NothingFoundError, UsageError
from salvo.scenarios.analysis.rejudge import RejudgeSession, is_transcript, missing_rejudgements
from salvo.scenarios.destinations import judge_destination_lines
from salvo.scenarios.evaluators.base import refuse_to_load
from salvo.scenarios.result import AgentRunResult, Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.permanent_faults import check_endpoints
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.rejudge_store import Rejudgement, RejudgeStore
from salvo.scenarios.stored_judges import stored_judges, with_present_servers
from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("batch_id", metavar="[BATCH]", default="latest")
@click.option(
    "--times", type=click.IntRange(min=1, max=1000), default=3, show_default=True, help="Judgings of each transcript."
)
@click.option("-j", "--concurrency", type=NUMBER_AT_ONCE, default=10, show_default=True, help="Calls at once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more judgings are started.")
@judges_option
@click.option("--stored", "only_stored", is_flag=True, help="Show what is stored, without any call.")
@call_limit_options("120")
@prices_option
@allow_env_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def judge(
    batch_id: str,
    times: int,
    concurrency: int,
    max_cost: float | None,
    judges: str,
    only_stored: bool,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    store_address: str | None,
    **call_limits: Any,
) -> None:
    """Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

    BATCH is any unique prefix of a batch's id, latest or latest~1. The judges of the scenario as it was run are asked
    --times times about each transcript. Judgings are stored with the runs and are not repeated, so a higher --times
    adds to them. No stored run is changed.

    Exits 0, 3 when judgings are missing, wait for their votes or gave no verdict, and 130 when interrupted.
    """
    project = Project.find(store_address=store_address)
    workspace = Workspace(
        project, allow_env=frozenset(allow_env), call_limits=CallLimits(**call_limits), price_file=price_file
    )
    store = workspace.store()
    batch = store.load_batch(store.find_batch(batch_id))
    scenario = stored_judges(batch)
    if not scenario.assertions:
        raise UsageError(
            f"{batch.scenario_id} has no llm_judge that `salvo judge` could ask.",
            hint=f"Score the runs with a judge: salvo score {batch.batch_id} FILE",
        )
    transcripts = [run for run in store.load_runs(batch.batch_id) if is_transcript(run)]
    if not transcripts:
        raise NothingFoundError(f"The batch {batch.batch_id} has no run that was judged.")
    judgings = RejudgeStore(store)
    code = ExitCode.OK
    if not only_stored:
        with judgings.hold(batch.batch_id, workspace.clock.now().isoformat()):
            pending = [key.judging for key in judgings.pending(batch.batch_id)]
            missing = missing_rejudgements(transcripts, completed_judgings(judgings, batch, scenario), times, pending)
            if missing:
                code = _judge_missing(workspace, batch, missing, concurrency, max_cost, judges)
    shown = show_judgings(store, batch, None if only_stored else times, as_json=as_json)
    raise SystemExit(shown if code is ExitCode.OK else code)


def _judge_missing(
    workspace: Workspace,
    batch: Batch,
    missing: list[tuple[AgentRunResult, int]],
    concurrency: int,
    max_cost: float | None,
    judges: str,
) -> ExitCode:
    command = workspace.clock.new_id() if judges == "batch" else None
    scenario = with_present_servers(workspace, batch)
    code = asyncio.run(_judge(workspace, batch, scenario, missing, concurrency, max_cost, command))
    if command is not None and code is ExitCode.OK:
        submit_judgings(workspace, batch)
    return code


async def _judge(
    workspace: Workspace,
    batch: Batch,
    scenario: Scenario,
    missing: list[tuple[AgentRunResult, int]],
    concurrency: int,
    max_cost: float | None,
    batch_command: str | None,
) -> ExitCode:
    endpoints = workspace.register_judges(scenario)
    prepared = PreparedScenario(batch, scenario, [], BaseAdapter, refuse_to_load, {}, judge_endpoints=endpoints)
    check_endpoints([prepared], workspace.all_endpoints(), only_judges=True)
    verb = "done" if batch_command is None else "prepared"
    work = TranscriptRun(workspace, "judgings", len(missing), concurrency, max_cost, verb)
    for line in judge_destination_lines(workspace, scenario):
        work.print(line)

    async def evaluate(transcripts: TranscriptSession, on_done: OnDone) -> list[PoolStopped]:
        def on_judged(judging: Rejudgement | None) -> None:
            on_done(None if judging is None else sum(verdict.cost or 0.0 for verdict in judging.verdicts))

        judgings = RejudgeStore(workspace.store())
        session = RejudgeSession(transcripts, judgings, __version__, on_judged, endpoints, batch_command)
        return await session.judge(scenario, missing)

    skipped = await work.run(evaluate)
    if skipped:
        reason = skipped[0].reason
        work.print(
            f"{len(skipped)} of {len(missing)} judgings were not made: {reason}. "
            "Run the same command again to continue."
        )
    return ExitCode.INTERRUPTED if work.interrupted else ExitCode.OK
