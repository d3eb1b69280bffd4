"""What workers get to know of a command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from salvo import __version__
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.run.executors.messages import WorkerSetup
from salvo.scenarios.run.runner import RunLimits, ScenarioRuns
from salvo.scenarios.workspace import Workspace


def worker_setup(
    workspace: Workspace,
    work: Sequence[ScenarioRuns],
    settings: RunSettings,
    limits: RunLimits,
    *,
    is_copied: bool,
) -> WorkerSetup:
    """Return the setup of workers that read the project here, or that get a copy of its folder."""
    project = workspace.project
    return WorkerSetup(
        salvo_version=__version__,
        root="" if is_copied else str(project.root),
        cwd=os.path.relpath(project.cwd, project.root),
        batches=[runs.batch for runs in work if runs.prepared is not None],
        patterns=workspace.patterns,
        allow_env=tuple(sorted(workspace.allow_env)),
        call_limits=workspace.call_limits,
        price_file=_relative(workspace.price_file, project.root),
        recording=settings.recording,
        use_cache=settings.cache,
        is_adaptive=limits.is_adaptive,
        reports_cost=limits.max_cost is not None,
        store_address=_store_address(workspace, work, limits),
    )


def _store_address(workspace: Workspace, work: Sequence[ScenarioRuns], limits: RunLimits) -> str:
    """Return where workers store their runs. They reach an object store; what is in a folder, the command writes.

    It also stores runs whose cost other shards must know first (`--max-cost`).
    """
    shares_budget = limits.max_cost is not None and any(runs.shard is not None for runs in work)
    store = workspace.store()
    return store.address if store.is_shared and not shares_budget else ""


def _relative(file: Path | None, root: Path) -> str | None:
    if file is None:
        return None
    resolved = file.resolve()
    return str(resolved.relative_to(root)) if resolved.is_relative_to(root) else str(resolved)
