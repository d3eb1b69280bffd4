"""`salvo run --processes`: where the runs are made, if not in the process of the command."""

from __future__ import annotations

from salvo.scenarios.plan import RunSettings
from salvo.scenarios.run.executors.base import OpenWorkers
from salvo.scenarios.run.executors.processes import in_processes
from salvo.scenarios.run.executors.setup import worker_setup
from salvo.scenarios.run.runner import RunLimits, ScenarioRuns
from salvo.scenarios.workspace import Workspace


def choose_workers(
    workspace: Workspace, work: list[ScenarioRuns], settings: RunSettings, limits: RunLimits, processes: int
) -> tuple[RunLimits, OpenWorkers]:
    """Return what opens the workers, and how many runs they make at once."""
    setup = worker_setup(workspace, work, settings, is_copied=False, is_adaptive=limits.is_adaptive)
    return limits, in_processes(processes, setup)
