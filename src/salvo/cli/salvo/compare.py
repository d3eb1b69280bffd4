"""`salvo compare`: is B better or worse than A, or can these runs not tell?"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.param_types import DOLLARS

if TYPE_CHECKING:
    from salvo.scenarios.plan import RunSettings
    from salvo.scenarios.report.comparison import ComparisonReport
    from salvo.scenarios.result import Batch
    from salvo.scenarios.run.runner import RunLimits
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.spec.schema import Scenario
    from salvo.scenarios.store.store import RunStore
    from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("what", nargs=-1, metavar="[BATCH_A BATCH_B | PATH]")
@click.option("--a", "model_a", metavar="MODEL", help="The newest stored batches of this model are side A.")
@click.option("--b", "model_b", metavar="MODEL", help="The newest stored batches of this model are side B.")
@click.option(
    "--all", "whole", is_flag=True, help="With two batches: all scenarios of the two commands they belong to."
)
@click.option("--run", "do_run", is_flag=True, help="With --a and --b: run what is missing, or is not as it is now.")
@click.option("-n", "--runs", type=click.IntRange(min=1), help="With --run: how often to run each scenario.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Runs at once.")
@click.option("--record", is_flag=True, help="With --run: record every run, so that it can be replayed.")
@click.option("--max-cost", type=DOLLARS, help="With --run: dollars after which no more are started.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
def compare(
    what: tuple[str, ...],
    model_a: str | None,
    model_b: str | None,
    whole: bool,
    do_run: bool,
    runs: int | None,
    concurrency: int,
    record: bool,
    max_cost: float | None,
    as_json: bool,
    markdown: bool,
) -> None:
    """Compare two models, or two batches: what is better, what is worse, and what these runs cannot tell.

    Either --a MODEL --b MODEL, over the scenarios that both were run on (or those at PATH); or two batches, such as
    before and after a change of a prompt. An id may be any unique prefix, or latest.

    The exact test of each scenario is corrected for their number; errors are in no rate, and are counted. Exits 1 when
    B is significantly worse, 3 when a side has no completed run to compare, and 0 otherwise.
    """
    from salvo.scenarios.analysis.comparison_inputs import compared, pair_named
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.store.store import RunStore

    project = Project.find(Path.cwd())
    store = RunStore(project.store)
    if model_a is None and model_b is None:
        if len(what) != 2:
            raise click.UsageError("Name two batches, or two models with --a and --b.")
        if do_run:
            raise click.UsageError("--run runs models: name them with --a and --b.")
        pairs, notes = pair_named(store, *what, whole=whole)
    else:
        if model_a is None or model_b is None or len(what) > 1 or whole:
            raise click.UsageError("Two models are compared with --a MODEL --b MODEL, and at most one PATH.")
        path = Path(what[0]) if what else None
        if do_run:
            from salvo.scenarios.plan import RunSettings
            from salvo.scenarios.run.runner import RunLimits
            from salvo.scenarios.workspace import ScenarioOverrides

            settings = RunSettings(overrides=ScenarioOverrides(runs), record=record, at_once=concurrency)
            limits = RunLimits(concurrency, max_cost)
            pairs, notes = _run_missing(project, (model_a, model_b), path, settings, limits)
        else:
            pairs, notes = _stored(store, project, (model_a, model_b), path)
    found = compared(store, pairs, notes)
    _show(found, as_json=as_json, markdown=markdown)
    raise SystemExit(_exit_code(found))


def _stored(
    store: RunStore, project: Project, models: tuple[str, str], path: Path | None
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    from salvo.errors import NothingFoundError
    from salvo.scenarios.analysis.comparison_inputs import is_of, newest_of, paired
    from salvo.scenarios.spec.loader import load_scenario

    wanted = None
    if path is not None:
        files = project.scenario_files(path)
        loaded = [load_scenario(file, environ=os.environ, root=project.root) for file in files]
        wanted = {file.model.scenario for file in loaded if file.model and not file.problems}
    stored = [batch for batch in store.newest_first() if wanted is None or batch.scenario_id in wanted]
    a, b = (newest_of(stored, partial(is_of, model=model)) for model in models)
    for model, found in zip(models, (a, b), strict=True):
        if not found:
            known = sorted({batch.model for batch in stored if batch.model})
            raise NothingFoundError(
                f"No runs of {model} are stored{'' if path is None else f' for {path}'}.",
                hint=f"Stored: {', '.join(known) or 'none'}. --run runs what is missing.",
            )
    return paired(a, b, "--run runs what is missing.")


def _run_missing(
    project: Project,
    models: tuple[str, str],
    path: Path | None,
    settings: RunSettings,
    limits: RunLimits,
) -> tuple[list[tuple[Batch, Batch]], list[str]]:
    """What is stored of the scenarios as they are now, and for the rest a new batch."""
    from salvo.cli.salvo.run_command import execute
    from salvo.scenarios.analysis.comparison_inputs import paired
    from salvo.scenarios.plan import plan_runs
    from salvo.scenarios.workspace import ScenarioOverrides, Workspace

    workshop = Workspace(project)
    store = workshop.store()
    stored = list(store.newest_first())
    sides: list[dict[str, Batch]] = [{}, {}]
    missing = []
    for side, model in zip(sides, models, strict=True):
        overrides = ScenarioOverrides(**{**settings.overrides.values, **_overrides(model)})
        for file, scenario in workshop.read_all(path, overrides):
            found = _present(workshop, stored, scenario, file)
            if found is not None:
                side[scenario.scenario] = found
            else:
                missing.append((side, (file, scenario, replace(settings, overrides=overrides))))
    work = plan_runs(workshop, [item for _, item in missing])
    for (side, _), runs in zip(missing, work, strict=True):
        side[runs.batch.scenario_id] = runs.batch
    if work and execute(workshop, work, settings.recording, limits).interrupted:
        click.echo("Interrupted. Finished runs are saved; continue with: salvo run --resume latest", err=True)
        raise SystemExit(ExitCode.INTERRUPTED)
    return paired(sides[0], sides[1])


def _overrides(model: str) -> dict[str, str]:
    """A provider before the model's name is the adapter to use; without one, the scenario's own is."""
    from salvo.scenarios.run.adapters.factory import PROVIDER_ADAPTERS

    provider, slash, name = model.partition("/")
    return {"adapter": provider, "model": name} if slash and provider in PROVIDER_ADAPTERS else {"model": model}


def _present(workshop: Workspace, stored: list[Batch], scenario: Scenario, file: Path) -> Batch | None:
    """The newest batch of just this scenario, tools and model, with as many runs as are wanted."""
    workshop.add_endpoint(scenario)
    now = workshop.prepare(scenario, file, recorded=False).batch
    wanted = _made_with(now)
    for batch in stored:
        if batch.scenario_id == now.scenario_id and _made_with(batch) == wanted:
            return batch if len(workshop.store().stored_numbers(batch.batch_id)) >= now.runs else None
    return None


def _made_with(batch: Batch) -> tuple[object, ...]:
    from salvo.scenarios.analysis.batch_stats import VERSION, fingerprints_of, settings_of

    settings = {name: value for name, value in settings_of(batch).items() if name != VERSION}
    return batch.provider, batch.model, fingerprints_of(batch), settings


def _show(found: ComparisonReport, *, as_json: bool, markdown: bool) -> None:
    from salvo.scenarios.report import comparison

    if as_json:
        from salvo.engine.jsonio import json_codec

        click.echo(json_codec.dumps(comparison.document(found), indent=2))
    elif markdown:
        click.echo(comparison.markdown(found))
    else:
        click.echo("\n".join(comparison.lines(found, colour=True)))


def _exit_code(found: ComparisonReport) -> ExitCode:
    if found.comparison.worse:
        return ExitCode.FAILED
    return ExitCode.NOT_JUDGED if found.comparison.not_compared else ExitCode.OK
