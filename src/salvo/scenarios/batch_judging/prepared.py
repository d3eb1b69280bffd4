"""The scenario by which votes that were collected are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from salvo.scenarios.evaluators.base import LoadObject, refuse_to_load
from salvo.scenarios.evaluators.registry import is_users_code
from salvo.scenarios.result import Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.workspace import Workspace, cell_redactor


def prepare_stored(
    workspace: Workspace,
    batch: Batch,
    document: Mapping[str, Any],
    load_present: Callable[[], tuple[Scenario, Path]],
) -> PreparedScenario:
    """Return a scenario as it is stored. Code of the user's comes from the present file if its assertions are the same.

    `load_present` returns the scenario as its file is now, and that file.
    """
    scenario = from_document(dict(document))
    load: LoadObject = refuse_to_load
    if any(is_users_code(assertion.type) for _, assertion in scenario.all_assertions()):
        present, file = load_present()
        redactor = cell_redactor(present, workspace.redactor())
        if clean_scenario(present, redactor)["assertions"] == document.get("assertions"):
            load = partial(workspace.project.load, near=file)
    return PreparedScenario(batch, scenario, [], BaseAdapter, load, {})
