"""The two sides of `salvo compare --a MODEL --b MODEL`: batches of the models, which are stored or are run now."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.cli.salvo.run_command import execute
from salvo.errors import NothingFoundError
from salvo.scenarios.analysis.batch_stats import COMMIT, VERSION, run_fingerprints, run_settings
from salvo.scenarios.analysis.comparison_inputs import (
    by_shared_parameters,
    newest_by_scenario,
    pair_scenarios,
    uses_model,
)
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings, plan_runs
from salvo.scenarios.result import PROVIDER_ADAPTERS, Batch
from salvo.scenarios.run.runner import RunLimits, RunnerResult
from salvo.scenarios.spec.loader import load_scenarios
from salvo.scenarios.spec.project import Project
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace

Pairs = list[tuple[Batch, Batch]]


def find_stored(
    store: RunStore, project: Project, models: tuple[str, str], path: Path | None
) -> tuple[Pairs, list[str]]:
    """Pair the newest stored batches of two models."""
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


def run_missing(
    project: Project,
    models: tuple[str, str],
    path: Path | None,
    *,
    runs: int | None,
    record: bool,
    concurrency: int,
    max_cost: float | None,
    allow_env: frozenset[str],
    price_file: Path | None,
) -> tuple[Pairs, list[str]]:
    """Pair what is stored of the current scenarios, and run the rest in new batches."""
    settings = RunSettings(overrides=ScenarioOverrides(runs), record=record, at_once=concurrency)
    limits = RunLimits(concurrency, max_cost)
    workspace = Workspace(project, allow_env=allow_env, price_file=price_file)
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
    for (side, _), item in zip(missing, work, strict=True):
        side[item.batch.scenario_id] = item.batch
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
