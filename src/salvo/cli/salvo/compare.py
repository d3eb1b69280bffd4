"""`salvo compare`: is B better or worse than A, or can these runs not tell?"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_document, echo_json
from salvo.cli.param_types import DOLLARS
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.prices_option import prices_option
from salvo.cli.salvo.run_command import execute
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.errors import NothingFoundError
from salvo.scenarios.analysis.batch_stats import COMMIT, VERSION, run_fingerprints, run_settings
from salvo.scenarios.analysis.compare import ComparisonVerdict
from salvo.scenarios.analysis.comparison_inputs import (
    by_shared_parameters,
    compare_batches,
    find_pairs,
    newest_by_scenario,
    pair_scenarios,
    uses_model,
)
from salvo.scenarios.analysis.scored_sides import ScoredSides
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings, plan_runs
from salvo.scenarios.report import comparison
from salvo.scenarios.result import PROVIDER_ADAPTERS, Batch
from salvo.scenarios.run.runner import RunLimits, RunnerResult
from salvo.scenarios.spec.loader import load_scenarios
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.score_store import PREFIX
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace

Pairs = list[tuple[Batch, Batch]]


@click.command
@click.argument("what", nargs=-1, metavar="[BATCH_A BATCH_B | PATH]")
@click.option("--a", "model_a", metavar="MODEL", help="The newest stored batches of this model are side A.")
@click.option("--b", "model_b", metavar="MODEL", help="The newest stored batches of this model are side B.")
@click.option(
    "--all", "all_scenarios", is_flag=True, help="With two batches: all scenarios of the two commands they belong to."
)
@click.option(
    "--paired",
    is_flag=True,
    help="Compare runs with the same seed pair by pair (McNemar's test), where seeds couple the sides.",
)
@click.option("--run", "do_run", is_flag=True, help="With --a and --b: run what is missing or has changed.")
@click.option("-n", "--runs", type=click.IntRange(min=1), help="With --run: how often to run each scenario.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=10, show_default=True, help="Runs at once.")
@click.option("--record", is_flag=True, help="With --run: record every run, so that it can be replayed.")
@click.option("--max-cost", type=DOLLARS, help="With --run: dollars after which no more runs are started.")
@prices_option
@allow_env_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@store_option
def compare(
    what: tuple[str, ...],
    model_a: str | None,
    model_b: str | None,
    all_scenarios: bool,
    paired: bool,
    do_run: bool,
    runs: int | None,
    concurrency: int,
    record: bool,
    max_cost: float | None,
    price_file: Path | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    markdown: bool,
    store_address: str | None,
) -> None:
    """Compare two models, or two batches: what is better, what is worse, and what these runs cannot tell.

    Either --a MODEL --b MODEL, over the scenarios that both were run on (or those at PATH); or two batches, such as
    before and after a change of a prompt. An id may be any unique prefix, latest, or latest~1 for the one before; with
    --all, these are the newest command and the one before. Scores of `salvo score` are compared
    in place of batches by their ids, if they are of different runs.

    The exact test of each scenario is corrected for the number of scenarios. Errors are counted and compared, but are
    part of no rate. Exits 1 when B is significantly worse, 3 when a side has no completed run to compare or when errors
    could hide that B is worse, and 0 otherwise.
    """
    project = Project.find(store_address=store_address)
    store = open_store(project)
    if model_a is None and model_b is None:
        if len(what) != 2:
            raise click.UsageError("Name two batches, or two models with --a and --b.")
        if do_run:
            raise click.UsageError("--run runs models: name them with --a and --b.")
        if all_scenarios and any(text.startswith(PREFIX) for text in what):
            raise click.UsageError("--all is for batches: a score has one scenario.")
        pairs, notes = find_pairs(store, *what, all_scenarios=all_scenarios)
    else:
        if model_a is None or model_b is None or len(what) > 1 or all_scenarios:
            raise click.UsageError("Two models are compared with --a MODEL --b MODEL, and at most one PATH.")
        path = Path(what[0]) if what else None
        if do_run:
            settings = RunSettings(overrides=ScenarioOverrides(runs), record=record, at_once=concurrency)
            limits = RunLimits(concurrency, max_cost)
            workspace = Workspace(project, allow_env=frozenset(allow_env), price_file=price_file)
            pairs, notes = _run_missing(workspace, (model_a, model_b), path, settings, limits)
        else:
            pairs, notes = _find_stored(store, project, (model_a, model_b), path)
    report = compare_batches(store, pairs, notes, ScoredSides(store).list_entries, paired=paired)
    if as_json:
        echo_json(json_codec.dumps(comparison.document(report), indent=2))
    elif markdown:
        echo_document(comparison.markdown(report))
    else:
        echo("\n".join(comparison.lines(report, colour=True)))
    if report.comparison.worse:
        raise SystemExit(ExitCode.FAILED)
    judged = report.comparison.verdict is not ComparisonVerdict.NOT_JUDGED
    raise SystemExit(ExitCode.OK if judged else ExitCode.NOT_JUDGED)


def _find_stored(
    store: RunStore, project: Project, models: tuple[str, str], path: Path | None
) -> tuple[Pairs, list[str]]:
    names = None
    if path is not None:
        files = project.scenario_files([path])
        loaded = [item for file in files for item in load_scenarios(file, environ=os.environ, root=project.root)]
        names = {file.model.scenario for file in loaded if file.model and not file.problems}
    stored = [batch for batch in store.newest_first() if names is None or batch.scenario_id in names]
    sides = [newest_by_scenario(stored, partial(uses_model, model=model)) for model in models]
    for model, side in zip(models, sides, strict=True):
        if not side:
            stored_models = sorted({batch.model for batch in stored if batch.model})
            raise NothingFoundError(
                f"No runs of {model} are stored{'' if path is None else f' for {path}'}.",
                hint=f"Stored: {', '.join(stored_models) or 'none'}. --run runs what is missing.",
            )
    side_a, side_b = by_shared_parameters(sides[0].values(), sides[1].values())
    return pair_scenarios(side_a, side_b, "--run runs what is missing.")


def _run_missing(
    workspace: Workspace, models: tuple[str, str], path: Path | None, settings: RunSettings, limits: RunLimits
) -> tuple[Pairs, list[str]]:
    """Pair what is stored of the current scenarios, and run the rest in new batches."""
    stored = list(workspace.store().newest_first())
    scenarios = workspace.read_all([] if path is None else [path])
    sides: list[dict[str, Batch]] = [{}, {}]
    missing = []
    for side, model in zip(sides, models, strict=True):
        overrides = ScenarioOverrides(**{**settings.overrides.values, **_model_overrides(model)})
        for file, scenario in ((file, overrides.apply(scenario)) for file, scenario in scenarios):
            batch = _find_current_batch(workspace, stored, scenario, file)
            if batch is not None:
                side[scenario.scenario] = batch
            else:
                missing.append((side, (file, scenario, replace(settings, overrides=overrides))))
    work = plan_runs(workspace, [item for _, item in missing])
    for (side, _), runs in zip(missing, work, strict=True):
        side[runs.batch.scenario_id] = runs.batch
    if work and execute(workspace, work, settings.recording, limits, _without_comparison).interrupted:
        raise SystemExit(_without_comparison(RunnerResult(interrupted=True)))
    return pair_scenarios(sides[0], sides[1])


def _without_comparison(outcome: RunnerResult) -> ExitCode:
    """Say how the runs are completed that the comparison needs."""
    ending = "Interrupted. " if outcome.interrupted else "Nothing was compared. "
    echo(f"{ending}Finished runs are saved; resume with: salvo run --resume latest", err=True)
    return ExitCode.INTERRUPTED if outcome.interrupted else ExitCode.NOT_JUDGED


def _model_overrides(model: str) -> dict[str, str]:
    """Return the adapter and model of a name with a provider; without one, the scenario's adapter is used."""
    provider, slash, name = model.partition("/")
    return {"adapter": provider, "model": name} if slash and provider in PROVIDER_ADAPTERS else {"model": model}


def _find_current_batch(workspace: Workspace, stored: list[Batch], scenario: Scenario, file: Path) -> Batch | None:
    """Return the newest batch of exactly this scenario, tools and model, if it has enough runs."""
    workspace.register(scenario)
    current = workspace.prepare(scenario, file, recorded=False).batch
    configuration = _configuration(current)
    for batch in stored:
        if batch.scenario_id == current.scenario_id and _configuration(batch) == configuration:
            return batch if len(workspace.store().stored_numbers(batch.batch_id)) >= current.runs else None
    return None


def _configuration(batch: Batch) -> tuple[object, ...]:
    settings = {name: value for name, value in run_settings(batch).items() if name not in (VERSION, COMMIT)}
    return batch.provider, batch.model, run_fingerprints(batch), settings
