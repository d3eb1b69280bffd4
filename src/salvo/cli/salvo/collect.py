"""`salvo collect`: fetch the votes of judges that were asked through a provider's batch API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.cli.output_options import result_options
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.baseline_options import baseline_options, read_baseline
from salvo.cli.salvo.batch_judging import CollectOutput, call_provider
from salvo.cli.salvo.judge_output import show_judgings
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.run_output import RunOutput, batch_exit_code, check_outputs, show_stored
from salvo.cli.salvo.score_output import show_scoring
from salvo.cli.salvo.store_option import store_option
from salvo.cli.wait_options import wait_options
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.base import Wire
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.analysis.summary import BatchSummary
from salvo.scenarios.batch_judging.collector import Collector, PendingTranscripts
from salvo.scenarios.batch_judging.pending_judgings import PendingJudgings
from salvo.scenarios.batch_judging.pending_runs import PendingBatchRuns
from salvo.scenarios.batch_judging.pending_scores import PendingScores
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.result import Batch
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import split_run_id
from salvo.scenarios.store.rejudge_store import RejudgeStore
from salvo.scenarios.store.score_store import PREFIX, ScoreStore, Scoring
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace


@record
class _Pending:
    """What `salvo collect` works on: the batches of commands, scorings, and batches whose runs were judged again."""

    commands: list[list[Batch]] = field(default_factory=list)
    scorings: list[Scoring] = field(default_factory=list)
    judged_again: list[Batch] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The ids by which each is collected alone."""
        return [
            *(batches[0].batch_id for batches in self.commands),
            *(scoring.score_id for scoring in self.scorings),
            *(batch.batch_id for batch in self.judged_again),
        ]


@click.command
@click.argument("batch_id", metavar="[BATCH]", required=False)
@wait_options
@baseline_options
@result_options
@prices_option
@allow_env_option
@store_option
def collect(
    batch_id: str | None,
    wait: bool,
    interval: float,
    baseline: str | None,
    commits: int,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    store_address: str | None,
    **options: Any,
) -> None:
    """Fetch the votes that a command with `--judges batch` asked for, and give the verdict.

    BATCH is any unique prefix of a batch's id, or latest; all batches of its command are collected, and what
    `salvo judge` asked about it. It may also be the id of a scoring of `salvo score`. Without it, everything whose
    judges are pending is collected. Votes are asked for once: an answer that failed, expired, was cancelled or cannot
    be read is no vote. Calling it again is free, and continues after a crash.

    Exits as `salvo run` does: 0 when every scenario passes, 1 when one fails or is significantly worse than its
    baseline, 2 on bad usage, 3 when something could not be judged or is still pending, 4 when the runs cannot show it
    with the required confidence.
    """
    output = RunOutput(**options)
    check_outputs(output.outputs)
    project = Project.find(store_address=store_address)
    workspace = Workspace(project, allow_env=frozenset(allow_env), price_file=price_file)
    store = workspace.store()
    pending = _all_pending(store) if batch_id is None else _pending_by_id(store, batch_id)
    if not pending.names:
        echo("No run waits for a judge.", err=True)
        raise SystemExit(ExitCode.OK)
    _check_options(pending, output, baseline)
    blessed = read_baseline(project, baseline)
    _collect(workspace, pending, wait=wait, interval=interval)
    code = ExitCode.OK
    summaries: list[BatchSummary] = []
    compared = None
    if pending.commands:
        batches = [batch for batches in pending.commands for batch in batches]
        summaries, compared = show_stored(store, batches, blessed, commits, output)
    for scoring in pending.scorings:
        batch = store.load_batch(scoring.batch_id)
        summaries.append(show_scoring(store, scoring, batch, {}, output.outputs, as_json=output.as_json))
    for batch in pending.judged_again:
        code = max(code, show_judgings(store, batch, None, as_json=output.as_json))
    verdict = batch_exit_code(summaries, compared) if summaries else ExitCode.OK
    raise SystemExit(code if verdict is ExitCode.OK else verdict)


def _all_pending(store: RunStore) -> _Pending:
    """Return everything that waits, oldest first."""
    commands: dict[str, list[Batch]] = {}
    for waiting_id in sorted({split_run_id(run_id)[0] for run_id in store.pending.run_ids()}):
        batch = store.load_batch(waiting_id)
        if store.waiting_runs(batch):
            commands.setdefault(batch.command or batch.batch_id, store.batches_of_command(batch))
    scores = ScoreStore(store)
    return _Pending(
        list(commands.values()),
        [scores.load(score_id) for score_id in scores.waiting_scorings()],
        [store.load_batch(batch_id) for batch_id in RejudgeStore(store).waiting_batches()],
    )


def _pending_by_id(store: RunStore, text: str) -> _Pending:
    """Return what a user means: a scoring, or a batch with the others of its command and what was judged again."""
    scores = ScoreStore(store)
    if text.startswith(PREFIX):
        scoring = scores.load(scores.find(text))
        if not scoring.batch_judges:
            raise _asked_directly(f"The judges of {scoring.score_id}", scoring.score_id)
        return _Pending(scorings=[scoring])
    batch = store.find_batches(text)[0]
    batches = store.batches_of_command(batch)
    judged_again = [batch] if RejudgeStore(store).pending(batch.batch_id) else []
    if judged_again and not any(map(store.waiting_runs, batches)):
        return _Pending(judged_again=judged_again)
    if not any(item.defers_judges for item in batches):
        raise _asked_directly(f"The judges of the batch {batch.batch_id}", batch.batch_id)
    return _Pending([batches], judged_again=judged_again)


def _asked_directly(what: str, name: str) -> UsageError:
    return UsageError(
        f"{what} were asked directly, so there is nothing to collect.", hint=f"Its results: salvo report {name}"
    )


def _check_options(pending: _Pending, output: RunOutput, baseline: str | None) -> None:
    """Refuse options that have no meaning for what is collected, before anything is asked for."""
    if baseline is not None and (pending.scorings or pending.judged_again):
        raise UsageError(
            "--against-baseline is for the runs of `salvo run`.",
            hint=f"Name what is collected, one of: {', '.join(pending.names)}",
        )
    kinds = (pending.commands, *pending.scorings, *pending.judged_again)
    if (output.outputs or output.as_json) and sum(map(bool, kinds)) > 1:
        writes = "--json prints" if output.as_json else "-o writes"
        raise UsageError(
            f"{writes} one document, and several things wait for their judges.",
            hint=f"Name one of them: {', '.join(pending.names)}",
        )
    if output.outputs and pending.judged_again:
        raise UsageError("-o has no format for judgings.", hint="Use --json instead.")


def _collect(workspace: Workspace, pending: _Pending, *, wait: bool, interval: float) -> None:
    """Continue with everything that waits, as far as the providers have answered."""
    store, now = workspace.store(), workspace.clock.now().isoformat()

    def work_on(
        transcripts: PendingTranscripts,
        hold: Callable[[], AbstractContextManager[None]],
        what: str,
        redact: tuple[str, ...] = (),
    ) -> None:
        workspace.patterns = redact  # as when the questions were asked, or their answers are not found
        collector = Collector(workspace, transcripts, CollectOutput())
        with hold():
            if transcripts.waiting():
                transcripts.prepare()
                call_provider(workspace, lambda wire: _call(collector, wire, wait=wait, interval=interval))
            finished = asyncio.run(collector.finish())
        if finished:
            echo(f"{pluralize(finished, what)} {'made' if what == 'judging' else 'judged'}.", err=True)

    for batches in pending.commands:
        patterns = RunSettings.from_batch(batches[-1]).redact
        work_on(PendingBatchRuns(workspace, batches), partial(store.hold, batches, now), "run", patterns)
    for scoring in pending.scorings:
        batch = store.load_batch(scoring.batch_id)
        hold = partial(ScoreStore(store).hold, scoring.score_id, now)
        work_on(PendingScores(workspace, scoring, batch), hold, "run")
    for batch in pending.judged_again:
        hold = partial(RejudgeStore(store).hold, batch.batch_id, now)
        work_on(PendingJudgings(workspace, batch), hold, "judging")


async def _call(collector: Collector, wire: Wire, *, wait: bool, interval: float) -> None:
    await collector.submit(wire)
    while await collector.fetch(wire) and wait:
        await collector.workspace.clock.sleep(interval)
        await collector.submit(wire)
