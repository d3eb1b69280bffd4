"""The body of `salvo collect`: continue every command whose runs are pending, and show what they came to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.cli.salvo.batch_judging import CollectOutput, call_provider
from salvo.cli.salvo.run_output import RunOutput, batch_exit_code, check_outputs, show
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.base import Wire
from salvo.errors import UsageError
from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.collect import Collector
from salvo.scenarios.labels.lookup import required_evidence
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.result import Batch
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import split_run_id
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace


def collect(
    batch_id: str | None,
    wait: bool,
    interval: float,
    baseline: str | None,
    commits: int,
    pass_at_k: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
    quiet: bool,
    verbose: bool,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    store_address: str | None,
) -> None:
    check_outputs(outputs)
    project = Project.find(store_address=store_address)
    workspace = Workspace(project, allow_env=frozenset(allow_env), price_file=price_file)
    store = workspace.store()
    commands = _commands(store, batch_id)
    if not commands:
        echo("No run waits for a judge.", err=True)
        raise SystemExit(ExitCode.OK)
    blessed = None
    if baseline is not None:
        from salvo.cli.salvo.run_baseline import Baseline  # most commands need none of its statistics

        blessed = Baseline.read(project, baseline)
    for batches in commands:
        _collect_command(workspace, batches, wait=wait, interval=interval)
    work = [ScenarioRuns(batch, None, earlier=store.batch_entries(batch)) for batches in commands for batch in batches]
    if blessed is not None:
        blessed.check(work)
    summaries = [summarise(item.batch, item.entries, labels=required_evidence(store, item.batch)) for item in work]
    compared = None if blessed is None else blessed.compare(store, work, commits)
    show(store, work, summaries, compared, RunOutput(outputs, as_json, quiet, verbose, pass_at_k))
    raise SystemExit(batch_exit_code(summaries, compared))


def _commands(store: RunStore, batch_id: str | None) -> list[list[Batch]]:
    """Return the batches to collect, by command, oldest first."""
    if batch_id is not None:
        batches = store.batches_of_command(store.find_batches(batch_id)[0])
        if not any(batch.defers_judges for batch in batches):
            raise UsageError(
                f"The judges of the batch {batches[0].batch_id} were asked directly, so there is nothing to collect.",
                hint=f"Its results: salvo report {batches[0].batch_id}",
            )
        return [batches]
    commands: dict[str, list[Batch]] = {}
    for waiting_id in sorted({split_run_id(run_id)[0] for run_id in store.pending.run_ids()}):
        batch = store.load_batch(waiting_id)
        if store.waiting_runs(batch):
            commands.setdefault(batch.command or batch.batch_id, store.batches_of_command(batch))
    return list(commands.values())


def _collect_command(workspace: Workspace, batches: list[Batch], *, wait: bool, interval: float) -> None:
    """Continue with the pending runs of one command, as far as the providers have answered."""
    store = workspace.store()
    workspace.patterns = RunSettings.from_batch(batches[-1]).redact
    collector = Collector(workspace, batches, CollectOutput())
    with store.hold(batches, workspace.clock.now().isoformat()):
        if collector.waiting():
            collector.prepare()
            call_provider(workspace, lambda wire: _call(collector, wire, wait=wait, interval=interval))
        finished = asyncio.run(collector.finish())
    if finished:
        echo(f"{pluralize(finished, 'run')} judged.", err=True)


async def _call(collector: Collector, wire: Wire, *, wait: bool, interval: float) -> None:
    await collector.submit(wire)
    while await collector.fetch(wire) and wait:
        await collector.workspace.clock.sleep(interval)
        await collector.submit(wire)
