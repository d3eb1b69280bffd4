"""`salvo judge`: judge stored transcripts again, to separate the variation of the judge from the agent's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from salvo import __version__
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import DOLLARS, NUMBER_AT_ONCE
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.call_limit_options import call_limit_options
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.store_option import store_option
from salvo.cli.salvo.transcript_run import OnDone, TranscriptRun
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.pool import PoolStopped
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError, NothingFoundError, UsageError
from salvo.scenarios.analysis.rejudge import (
    RejudgeSession,
    is_transcript,
    missing_rejudgements,
    only_judges,
    stored_verdicts,
)
from salvo.scenarios.destinations import judge_destination_lines
from salvo.scenarios.evaluators.base import refuse_to_load
from salvo.scenarios.evaluators.builtin.llm_judge import JudgeFields
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.report import rejudge_report
from salvo.scenarios.report.rejudge_report import JudgeSummary
from salvo.scenarios.result import AgentRunResult, Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.permanent_faults import check_endpoints
from salvo.scenarios.run.redaction import clean_document, clean_scenario
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.spec.judge_server import scenario_judge_servers
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.rejudge_store import Rejudgement, RejudgeStore
from salvo.scenarios.workspace import Calls, Workspace, judged_scenario


@click.command
@click.argument("batch_id", metavar="[BATCH]", default="latest")
@click.option(
    "--times", type=click.IntRange(min=1, max=1000), default=3, show_default=True, help="Judgings of each transcript."
)
@click.option("-j", "--concurrency", type=NUMBER_AT_ONCE, default=10, show_default=True, help="Calls at once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more judgings are started.")
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
    only_stored: bool,
    call_timeout: float | None,
    connect_timeout: float | None,
    read_timeout: float | None,
    tries: int | None,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    store_address: str | None,
) -> None:
    """Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

    BATCH is any unique prefix of a batch's id, latest or latest~1. The judges of the scenario as it was run are asked
    --times times about each transcript. Judgings are stored with the runs and are not repeated, so a higher --times
    adds to them. No stored run is changed.

    Exits 0, 3 when judgings are missing or gave no verdict, and 130 when interrupted.
    """
    workspace = Workspace(
        Project.find(store_address=store_address),
        allow_env=frozenset(allow_env),
        call_limits=CallLimits(call_timeout, connect_timeout, read_timeout, tries),
        price_file=price_file,
    )
    store = workspace.store()
    batch = store.load_batch(store.find_batch(batch_id))
    as_run = from_document(batch.scenario)
    scenario = only_judges(as_run)
    if not scenario.assertions:
        raise UsageError(
            f"{batch.scenario_id} has no llm_judge that `salvo judge` could ask.",
            hint=f"Score the runs with a judge: salvo score {batch.batch_id} FILE",
        )
    runs = store.load_runs(batch.batch_id)
    transcripts = [run for run in runs if is_transcript(run)]
    if not transcripts:
        raise NothingFoundError(f"The batch {batch.batch_id} has no run that was judged.")
    judgings = RejudgeStore(store)
    missing = (
        [] if only_stored else missing_rejudgements(transcripts, _stored_judgings(judgings, batch, scenario), times)
    )
    code = ExitCode.OK
    if missing:
        scenario = _with_present_servers(workspace, batch, scenario)
        code = asyncio.run(_judge(workspace, batch, scenario, missing, judgings, concurrency, max_cost))
    completed = [
        judging for judging in _stored_judgings(judgings, batch, scenario) if only_stored or judging.time <= times
    ]
    if not completed:
        raise NothingFoundError(
            f"No judgings of the batch {batch.batch_id} are stored.",
            hint=f"Make some with: salvo judge {batch.batch_id} --times {times}",
        )
    expected = len(completed) if only_stored else times * len(transcripts)
    stored = {run.run_id: stored_verdicts(as_run, run) for run in transcripts}
    summaries = _summaries(scenario, completed, stored, _average_cost(transcripts))
    _show(batch, scenario, summaries, (len(completed), expected, len(runs) - len(transcripts)), as_json=as_json)
    if code is ExitCode.OK and (len(completed) < expected or any(summary.no_verdict for summary in summaries)):
        code = ExitCode.NOT_JUDGED
    raise SystemExit(code)


def _stored_judgings(judgings: RejudgeStore, batch: Batch, scenario: Scenario) -> list[Rejudgement]:
    """Return the judgings that this version made with all judges of the scenario."""
    stored = judgings.load(batch.batch_id, __version__)
    return [judging for judging in stored if len(judging.verdicts) == len(scenario.assertions)]


def _with_present_servers(workspace: Workspace, batch: Batch, scenario: Scenario) -> Scenario:
    """Return the judges of the present scenario file, if one of them has a server of its own.

    The stored scenario has no key, and a store does not choose where a transcript or a key is sent.
    """
    if not scenario_judge_servers(scenario):
        return scenario
    hint = f"Score the runs with a scenario file instead: salvo score {batch.batch_id} FILE"
    try:
        file = workspace.project.stored_source(batch.source)
    except InputError as error:
        raise UsageError(f"{error.message} A store does not choose where a judge is.", hint=hint) from error
    overrides = ScenarioOverrides.from_batch(batch)
    scenario_now = workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.JUDGES)
    present = only_judges(judged_scenario(scenario_now) or scenario_now)
    workspace.register_judges(present)
    redactor = workspace.redactor()
    if json_codec.plain(clean_scenario(present, redactor)) != clean_document(_document(scenario), redactor):
        raise UsageError(f"{batch.source} has changed since the batch {batch.batch_id} was run.", hint=hint)
    return present


def _document(scenario: Scenario) -> dict[str, Any]:
    document: dict[str, Any] = json_codec.plain(scenario.model_dump(mode="json"))
    return document


async def _judge(
    workspace: Workspace,
    batch: Batch,
    scenario: Scenario,
    missing: list[tuple[AgentRunResult, int]],
    judgings: RejudgeStore,
    concurrency: int,
    max_cost: float | None,
) -> ExitCode:
    endpoints = workspace.register_judges(scenario)
    prepared = PreparedScenario(batch, scenario, [], BaseAdapter, refuse_to_load, {}, judge_endpoints=endpoints)
    check_endpoints([prepared], workspace.all_endpoints(), only_judges=True)
    work = TranscriptRun(workspace, "judgings", len(missing), concurrency, max_cost)
    for line in judge_destination_lines(workspace, scenario):
        work.print(line)

    async def evaluate(transcripts: TranscriptSession, on_done: OnDone) -> list[PoolStopped]:
        def on_judged(judging: Rejudgement) -> None:
            on_done(sum(verdict.cost or 0.0 for verdict in judging.verdicts))

        session = RejudgeSession(transcripts, judgings, __version__, on_judged, endpoints)
        return await session.judge(scenario, missing)

    skipped = await work.run(evaluate)
    if skipped:
        reason = skipped[0].reason
        work.print(
            f"{len(skipped)} of {len(missing)} judgings were not made: {reason}. "
            "Run the same command again to continue."
        )
    return ExitCode.INTERRUPTED if work.interrupted else ExitCode.OK


def _average_cost(runs: list[AgentRunResult]) -> float | None:
    costs = [run.metrics.cost for run in runs if run.metrics.cost is not None]
    return sum(costs) / len(costs) if len(costs) == len(runs) else None


def _summaries(
    scenario: Scenario, judgings: list[Rejudgement], stored: dict[str, list[bool | None]], run_cost: float | None
) -> list[JudgeSummary]:
    labels = [assertion.label for assertion in scenario.assertions]
    return rejudge_report.summarise(labels, _votes(scenario), judgings, stored, run_cost)


def _votes(scenario: Scenario) -> list[int]:
    return [JudgeFields.model_validate(assertion.fields).votes for assertion in scenario.assertions]


def _show(
    batch: Batch,
    scenario: Scenario,
    summaries: list[JudgeSummary],
    counts: tuple[int, int, int],
    *,
    as_json: bool,
) -> None:
    count, expected, unjudged = counts
    if as_json:
        document: dict[str, Any] = {
            "salvo_judging": 1,
            "batch_id": batch.batch_id,
            "scenario_id": batch.scenario_id,
            "judgings": count,
            "wanted": expected,
            "runs_never_judged": unjudged,
            "assertions": [rejudge_report.document(summary) for summary in summaries],
        }
        echo_json(json_codec.dumps(document, indent=2))
        return
    echo("\n".join(rejudge_report.lines(summaries, _votes(scenario))))
    note = f" {pluralize(unjudged, 'run')} ended before there was anything to judge." if unjudged else ""
    total = "" if count == expected else f" of {expected}"
    echo(f"\n{printable(batch.scenario_id)}, batch {batch.batch_id}: {count}{total} judgings.{note}")
