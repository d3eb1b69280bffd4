"""The body of `salvo run`: plan the runs, execute them, show what they came to.

run(…)                 this module
  plan_runs(…)         scenarios/plan.py: which runs are to be made, in which batches
  Runner.run(work)     scenarios/run/runner.py: makes them and stores each one
  show(…)              run_output.py: the table, the files and the exit code
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import RunsAtOnce
from salvo.cli.salvo import dry_run as plan_display
from salvo.cli.salvo.baseline_options import read_baseline
from salvo.cli.salvo.run_checks import (
    check_cache,
    check_judges,
    check_one_sided,
    check_shard,
    check_until_sure,
    repeated_seeds,
)
from salvo.cli.salvo.run_output import RunOutput, check_outputs, run_exit_code, show
from salvo.cli.salvo.run_progress import RunProgress
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime import event_loop
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.messages import display_path
from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire.base import RecordingOptions
from salvo.scenarios.analysis.confidence_gate import required_confidence, too_few_runs
from salvo.scenarios.analysis.summary import summarise
from salvo.scenarios.destinations import destination_lines
from salvo.scenarios.labels.lookup import required_evidence
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings, plan_named_runs, plan_resume, plan_runs
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.run.runner import RunLimits, RunnerResult, ScenarioRuns
from salvo.scenarios.selection import FoundScenario, Selection, select
from salvo.scenarios.shards import Shard, default_batch_name
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import store_notice
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace

if TYPE_CHECKING:
    from salvo.cli.salvo.run_workers import ChosenWorkers


def run(
    paths: tuple[Path, ...],
    runs: int | None,
    record: bool,
    model: str | None,
    adapter: str | None,
    seed: int | None,
    timeout: float | None,
    threshold: float | None,
    min_pass_rate: float | None,
    confidence: float | None,
    one_sided: bool,
    until_sure: bool,
    max_runs: int | None,
    baseline: str | None,
    commits: int,
    pass_at_k: bool,
    keywords: str | None,
    tags: str | None,
    last_failed: bool,
    failed_first: bool,
    collect_only: bool,
    exitfirst: bool,
    concurrency: RunsAtOnce,
    processes: int | None,
    cluster: str | None,
    judges: str,
    call_timeout: float | None,
    connect_timeout: float | None,
    read_timeout: float | None,
    tries: int | None,
    cache: bool,
    dry_run: bool,
    max_cost: float | None,
    resume: str | None,
    shard: str | None,
    batch_name: str | None,
    store_address: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    price_file: Path | None,
    quiet: bool,
    verbose: bool,
    allow_env: tuple[str, ...],
    patterns: tuple[str, ...],
    record_max_bytes: int | None,
    record_hashes: bool,
) -> None:
    check_outputs(outputs)
    check_until_sure(runs, until_sure=until_sure, max_runs=max_runs)
    check_cache(cache=cache, needs_evidence=until_sure or confidence is not None or baseline is not None)
    check_judges(judges, until_sure=until_sure, baseline=baseline, cache=cache, shard=shard, resume=resume)
    part = check_shard(
        shard,
        batch_name,
        resume=resume,
        needs_one_store={"--until-sure": until_sure, "--max-cost": max_cost is not None},
        has_one_store=bool(store_address),
        needs_all_runs={
            "--against-baseline": baseline is not None,
            "--lf": last_failed,
            "--ff": failed_first,
        },
    )
    concurrency = concurrency.for_shard(part.count) if part else concurrency
    output = RunOutput(outputs, as_json, quiet, verbose, pass_at_k)
    selection = Selection.parse(paths, keywords, tags, last_failed=last_failed, failed_first=failed_first)
    overrides = ScenarioOverrides(runs, model, adapter, threshold, min_pass_rate, confidence, seed, timeout)
    project = Project.find(store_address=store_address)
    call_limits = CallLimits(call_timeout, connect_timeout, read_timeout, tries)
    if collect_only and resume is None:
        _collect_only(Workspace(project, allow_env=frozenset(allow_env)), selection, overrides, max_runs, output)
        return
    blessed = read_baseline(project, baseline)
    if resume is not None:
        changes = replace(overrides, adapter=None).values
        if changes or max_runs is not None or selection != Selection() or collect_only:
            raise click.UsageError(
                "--resume continues a batch as it was started: it takes no PATH and no option that changes a scenario "
                "or chooses scenarios."
            )
        enter = click.get_current_context().with_resource
        workspace, settings, work = plan_resume(
            project, resume, adapter, frozenset(allow_env), call_limits, enter=enter
        )
        workspace.price_file = price_file
        if not any(item.prepared for item in work):
            echo("Nothing is missing: every run was made.", err=True)
    else:
        settings = RunSettings(
            overrides=overrides,
            record=record or record_hashes,
            record_hashes=record_hashes,
            record_max_bytes=record_max_bytes,
            redact=patterns,
            max_runs=max_runs,
            at_once=concurrency.start,
            one_sided=one_sided,
            cache=cache,
            batch_judges=judges == "batch",
        )
        workspace = Workspace(
            project,
            patterns=patterns,
            allow_env=frozenset(allow_env),
            call_limits=call_limits,
            price_file=price_file,
        )
        work, batch_name = _plan_new(workspace, _select(workspace, selection, overrides), settings, part, batch_name)
        check_one_sided(work, one_sided=one_sided)
    if blessed is not None:
        blessed.check(work)
    for warning in _evidence_warnings(workspace.store(), work):
        echo(printable(warning), err=True)

    if dry_run:
        plan_display.show(workspace, work, max_cost, use_cache=settings.cache, as_json=as_json)
        raise SystemExit(ExitCode.OK)

    limits = RunLimits(
        concurrency.start, max_cost, stop_at_first_failure=exitfirst, is_adaptive=concurrency.is_adaptive
    )

    def finish(outcome: RunnerResult) -> ExitCode:
        store = workspace.store()
        summaries = [
            summarise(item.batch, item.entries, item.skipped, required_evidence(store, item.batch)) for item in work
        ]
        compared = None if blessed is None else blessed.compare(store, work, commits)
        show(store, work, summaries, compared, output, part, batch_name if store_address else None)
        _print_store_hint(output)
        return ExitCode.INTERRUPTED if outcome.interrupted else run_exit_code(work, summaries, compared, part)

    workers = None
    if processes is not None or cluster is not None:
        from salvo.cli.salvo.run_workers import choose_workers  # most commands make their runs themselves

        limits, workers = choose_workers(workspace, work, settings, limits, processes, cluster)
    outcome = execute(workspace, work, settings.recording, limits, finish, use_cache=settings.cache, workers=workers)
    _submit_questions(workspace, work, settings, outcome)
    raise SystemExit(finish(outcome))


def _submit_questions(
    workspace: Workspace, work: list[ScenarioRuns], settings: RunSettings, outcome: RunnerResult
) -> None:
    """Send the questions to the judges to the batch APIs, with --judges batch. After Ctrl-C, `salvo collect` does."""
    if settings.batch_judges and not outcome.interrupted:
        from salvo.cli.salvo.batch_judging import submit_runs  # most runs are judged at once

        submit_runs(workspace, [item.batch for item in work])


def _print_store_hint(output: RunOutput) -> None:
    """Say that the commands that were printed need the option, too, if the variable does not set the store."""
    context = click.get_current_context()
    if output.as_json or context.get_parameter_source("store_address") is not ParameterSource.COMMANDLINE:
        return
    address = printable(shlex.quote(context.params["store_address"]))
    echo(f"Other commands find these runs with --store {address}, or with SALVO_STORE.", err=True)


def _plan_new(
    workspace: Workspace,
    scenarios: list[FoundScenario],
    settings: RunSettings,
    shard: Shard | None,
    batch_name: str | None,
) -> tuple[list[ScenarioRuns], str | None]:
    """Return the runs of a new batch, or of one with a name, and that name. Shards have one in any case."""
    items = [(file, scenario, settings) for file, scenario in scenarios]
    if batch_name is None:
        if shard is None:
            return plan_runs(workspace, items), None
        batch_name = default_batch_name(workspace.project, workspace.commit(), [file for file, _ in scenarios])
    enter = click.get_current_context().with_resource
    work = plan_named_runs(workspace, items, batch_name, shard, enter=enter)
    if not any(map(_may_run, work)):
        echo("Nothing is missing: every run was made.", err=True)
    return work, batch_name


def execute(
    workspace: Workspace,
    work: list[ScenarioRuns],
    recording: RecordingOptions | None,
    limits: RunLimits,
    finish: Callable[[RunnerResult], ExitCode],
    *,
    use_cache: bool = False,
    workers: ChosenWorkers | None = None,
) -> RunnerResult:
    """Make the planned runs, with a progress line. `salvo compare --run` calls this, too.

    `finish` is the rest of the command. It is called here only if this never returns, because an agent blocks the event
    loop for good.
    """
    progress = RunProgress()
    scenarios = [item.prepared.scenario for item in work if item.prepared is not None]
    is_remote = workers is not None and workers.is_remote
    if not is_remote:  # the workers of a cluster say where their calls go
        progress.connected(destination_lines(workspace, scenarios))
    progress.connected(filter(None, [store_notice(workspace.store())]))
    runner = workspace.runner(
        limits,
        recording,
        progress,
        use_cache=use_cache,
        open_workers=None if workers is None else workers.open_workers,
        has_keys=not is_remote,
    )

    def end_lost_runs(blocker: event_loop.Responsible, seconds: float, where: str) -> ExitCode:
        outcome = runner.end_lost_runs(work, blocker, where)
        progress.close()
        progress.line.print(event_loop.describe_lost_loop(seconds, where, "the command"))
        return finish(outcome)

    try:
        return event_loop.run(runner.run(work), end_lost_runs)
    finally:
        progress.close()


def _evidence_warnings(store: RunStore, work: list[ScenarioRuns]) -> Iterator[str]:
    """Yield what the runs cannot show, if evidence is required: before anything is spent."""
    needed = [item.batch for item in work if _may_run(item) and required_confidence(item.batch) is not None]
    for batch in needed:
        yield from filter(None, (too_few_runs(batch), repeated_seeds(store, batch)))


def _may_run(item: ScenarioRuns) -> bool:
    return bool(item.pending) or item.shared_rounds is not None


def _select(workspace: Workspace, selection: Selection, overrides: ScenarioOverrides) -> list[FoundScenario]:
    """Return the scenarios to run, with what the command sets instead of their files."""
    selected = select(selection, workspace.read_all(selection.paths), workspace.store())
    for note in selected.notes:
        echo(note, err=True)
    return [(file, overrides.apply(scenario)) for file, scenario in selected.scenarios]


def _collect_only(
    workspace: Workspace, selection: Selection, overrides: ScenarioOverrides, max_runs: int | None, output: RunOutput
) -> None:
    """Print which scenarios would be run, by FILE::NAME, which `salvo run` takes as a PATH."""
    scenarios = _select(workspace, selection, overrides)
    if output.as_json:
        fields = ("scenario", "tags", "adapter", "model", "runs")
        document = [
            {"file": display_path(file), **{name: getattr(scenario, name) for name in fields}, "max_runs": max_runs}
            for file, scenario in scenarios
        ]
        echo_json(json_codec.dumps({"scenarios": document}, indent=2))
        return
    at_most = "" if max_runs is None else "at most "  # with --until-sure
    runs = [scenario.runs if max_runs is None else max_runs for _, scenario in scenarios]
    for (file, scenario), number in zip(scenarios, runs, strict=True):
        note = "" if output.quiet else f"  {at_most}{pluralize(number, 'run')}"
        echo(f"{display_path(file)}::{scenario.scenario}{note}")
    if not output.quiet:
        total = f"{at_most}{pluralize(sum(runs), 'run')}"
        echo(f"\n{pluralize(len(scenarios), 'scenario')}, {total}. Nothing was run.")
