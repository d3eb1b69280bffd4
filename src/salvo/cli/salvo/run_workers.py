"""`salvo run --processes` and `--on`: where the runs are made, if not in the process of the command."""

from __future__ import annotations

from dataclasses import replace

import click
from click.core import ParameterSource

from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.run.executors.base import OpenWorkers
from salvo.scenarios.run.executors.processes import in_processes
from salvo.scenarios.run.executors.ray_cluster import RUNS_PER_WORKER, on_cluster
from salvo.scenarios.run.executors.setup import worker_setup
from salvo.scenarios.run.runner import RunLimits, ScenarioRuns
from salvo.scenarios.workspace import Workspace


@record
class ChosenWorkers:
    """What opens the workers, and whether they have an environment of their own, with their own keys."""

    open_workers: OpenWorkers
    is_remote: bool = False


def choose_workers(
    workspace: Workspace,
    work: list[ScenarioRuns],
    settings: RunSettings,
    limits: RunLimits,
    processes: int | None,
    cluster: str | None,
) -> tuple[RunLimits, ChosenWorkers]:
    """Return what opens the workers, and how many runs they make at once."""
    setup = worker_setup(workspace, work, settings, limits, is_copied=cluster is not None)
    if cluster is None:
        return limits, ChosenWorkers(in_processes(processes or 1, setup))
    _check_cluster(workspace, work, settings, cluster)
    pending = sum(len(runs.pending) for runs in work)
    count, open_workers, disconnect = on_cluster(cluster, workspace.project.root, setup, processes, pending)
    context = click.get_current_context()
    context.call_on_close(disconnect)
    if context.get_parameter_source("concurrency") is ParameterSource.DEFAULT:
        limits = replace(limits, concurrency=RUNS_PER_WORKER * count)
    return limits, ChosenWorkers(open_workers, is_remote=True)


def _check_cluster(workspace: Workspace, work: list[ScenarioRuns], settings: RunSettings, cluster: str) -> None:
    """Refuse what workers on other machines cannot have."""
    if cluster != "ray" and not cluster.startswith("ray://"):
        raise click.UsageError(f"--on {cluster}: a cluster is ray, or ray://HOST:10001.")
    if settings.cache:
        raise click.UsageError("--cache is a folder on this machine, which the workers of a cluster do not have.")
    root = workspace.project.root
    outside = [runs.batch.source for runs in work if not (root / runs.batch.source).resolve().is_relative_to(root)]
    if workspace.price_file is not None and not workspace.price_file.resolve().is_relative_to(root):
        outside.append(str(workspace.price_file))
    if outside:
        raise UsageError(
            f"{outside[0]} is not inside the project, so the workers of a cluster would not have it.",
            hint=f"They get a copy of {root}. Nothing was run, and nothing was spent.",
        )
