"""`salvo judge`: stored transcripts judged again, to tell the judge's variation from the agent's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.param_types import DOLLARS

if TYPE_CHECKING:
    from salvo.scenarios.report.rejudge_report import JudgeSummary
    from salvo.scenarios.result import AgentRunResult, Batch
    from salvo.scenarios.spec.schema import Scenario
    from salvo.scenarios.store.rejudge_store import Rejudgement, RejudgeStore
    from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("batch", default="latest")
@click.option(
    "--times", type=click.IntRange(min=1, max=1000), default=3, show_default=True, help="Judgings of each transcript."
)
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="At once.")
@click.option("--max-cost", type=DOLLARS, help="Dollars after which no more judgings are started.")
@click.option("--stored", is_flag=True, help="Show what is stored, and ask nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def judge(batch: str, times: int, concurrency: int, max_cost: float | None, stored: bool, as_json: bool) -> None:
    """Judge stored transcripts again, without running the agent: does the agent vary, or the judge?

    BATCH is any unique prefix of a batch's id, or latest. The judges of the scenario as it was run are asked --times
    times about each transcript. Judgings are stored beside the runs and counted: what was asked before is not asked
    again, so a higher --times adds to them. No stored run is changed.

    Exits 0, 3 when judgings are missing or came to no verdict, and 130 when interrupted.
    """
    import asyncio

    from salvo.errors import NothingFoundError, UsageError
    from salvo.scenarios.analysis.rejudge import is_transcript, judges_of, still_to_do
    from salvo.scenarios.spec.loader import from_document
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.store.rejudge_store import RejudgeStore
    from salvo.scenarios.workspace import Workspace

    workshop = Workspace(Project.find(Path.cwd()))
    store = workshop.store()
    found = store.load_batch(store.find_batch(batch))
    scenario = judges_of(from_document(found.scenario))
    if not scenario.assertions:
        raise UsageError(
            f"{found.scenario_id} has no assertion that a model judges.",
            hint="`salvo judge` is for assertions of the type llm_judge: the others always say the same.",
        )
    runs = store.load_runs(found.batch_id)
    transcripts = [run for run in runs if is_transcript(run)]
    if not transcripts:
        raise NothingFoundError(f"The batch {found.batch_id} has no run that was judged.")
    judgings = RejudgeStore(store.folder)
    made = _fitting(judgings, found, scenario)
    missing = [] if stored else still_to_do(transcripts, made, times)
    code = ExitCode.OK
    if missing:
        code = asyncio.run(_judge(workshop, found, scenario, missing, judgings, concurrency, max_cost))
    every = [of for of in _fitting(judgings, found, scenario) if stored or of.time <= times]
    if not every:
        raise NothingFoundError(
            f"No judgings of the batch {found.batch_id} are stored.",
            hint=f"Make some with: salvo judge {found.batch_id} --times {times}",
        )
    wanted = len(every) if stored else times * len(transcripts)
    summaries = _summaries(scenario, every, transcripts)
    _show(found, scenario, summaries, (len(every), wanted, len(runs) - len(transcripts)), as_json=as_json)
    if code is ExitCode.OK and (len(every) < wanted or any(of.no_verdict for of in summaries)):
        code = ExitCode.NOT_JUDGED
    raise SystemExit(code)


def _fitting(judgings: RejudgeStore, batch: Batch, scenario: Scenario) -> list[Rejudgement]:
    from salvo import __version__

    stored = judgings.load(batch.batch_id, __version__)
    return [of for of in stored if len(of.verdicts) == len(scenario.assertions)]


async def _judge(
    workshop: Workspace,
    batch: Batch,
    scenario: Scenario,
    missing: list[tuple[AgentRunResult, int]],
    judgings: RejudgeStore,
    concurrency: int,
    max_cost: float | None,
) -> ExitCode:
    from salvo import __version__
    from salvo.cli.console import ProgressLine
    from salvo.engine.runtime.pool import cancel_on_interrupt
    from salvo.scenarios.run.runner import INTERRUPTED

    progress, total, done, cost = ProgressLine(), len(missing), 0, 0.0

    def judged(of: Rejudgement) -> None:
        nonlocal done, cost
        done += 1
        cost += sum(verdict.cost or 0.0 for verdict in of.verdicts)
        spent = f", ${cost:.4f}" if cost else ""
        progress.update(
            f"{done}/{total} judgings done{spent}", milestone=done % max(1, total // 10) == 0 or done == total
        )

    async with workshop.judging_bench(
        judgings,
        workshop.project.root / batch.source,
        concurrency=concurrency,
        max_cost=max_cost,
        version=__version__,
        on_judged=judged,
        on_wait=lambda wait: progress.update(f"{done}/{total} judgings done ({wait})", milestone=wait.seconds >= 1),
    ) as bench:
        try:
            with cancel_on_interrupt(bench.pool, INTERRUPTED):
                stopped = await bench.judge(scenario, missing)
        finally:
            progress.clear()
    if stopped:
        progress.print(
            f"{len(stopped)} of {total} judgings were not made: {stopped[0].reason}. The same command goes on."
        )
    return ExitCode.INTERRUPTED if bench.pool.is_cancelled else ExitCode.OK


def _summaries(
    scenario: Scenario, judgings: list[Rejudgement], transcripts: list[AgentRunResult]
) -> list[JudgeSummary]:
    from salvo.scenarios.analysis.rejudge import JUDGE
    from salvo.scenarios.report.rejudge_report import summarise

    stored = {run.run_id: [of.passed for of in run.eval_results if of.type == JUDGE] for run in transcripts}
    costs = [run.metrics.cost for run in transcripts]
    known = [cost for cost in costs if cost is not None]
    run_cost = sum(known) / len(known) if len(known) == len(costs) else None
    return summarise([of.label for of in scenario.assertions], _votes(scenario), judgings, stored, run_cost)


def _votes(scenario: Scenario) -> list[int]:
    from salvo.scenarios.evaluators.llm_judge import JudgeFields

    return [JudgeFields.model_validate(assertion.fields).votes for assertion in scenario.assertions]


def _show(
    batch: Batch,
    scenario: Scenario,
    summaries: list[JudgeSummary],
    counts: tuple[int, int, int],
    *,
    as_json: bool,
) -> None:
    from salvo.engine.text.formatting import pluralize
    from salvo.engine.text.unicode_escape import printable
    from salvo.scenarios.report import rejudge_report

    made, wanted, unjudged = counts
    if as_json:
        from salvo.engine.jsonio import json_codec

        document: dict[str, Any] = {
            "salvo_judging": 1,
            "batch_id": batch.batch_id,
            "scenario_id": batch.scenario_id,
            "judgings": made,
            "wanted": wanted,
            "runs_never_judged": unjudged,
            "assertions": [rejudge_report.document(of) for of in summaries],
        }
        click.echo(json_codec.dumps(document, indent=2))
        return
    click.echo("\n".join(rejudge_report.lines(summaries, _votes(scenario))))
    never = f" {pluralize(unjudged, 'run')} ended before there was anything to judge." if unjudged else ""
    part = "" if made == wanted else f" of {wanted}"
    click.echo(f"\n{printable(batch.scenario_id)}, batch {batch.batch_id}: {made}{part} judgings.{never}")
