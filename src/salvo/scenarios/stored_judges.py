"""The judges of a stored batch, which `salvo judge` asks again."""

from __future__ import annotations

from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.errors import UsageError
from salvo.scenarios.analysis.rejudge import only_judges
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.result import Batch
from salvo.scenarios.run.redaction import clean_document, clean_scenario
from salvo.scenarios.spec.judge_server import scenario_judge_servers
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.workspace import Calls, Workspace, judged_scenario


def stored_judges(batch: Batch) -> Scenario:
    """Return the scenario of a batch as it was run, with only its judges."""
    return only_judges(from_document(batch.scenario))


def with_present_servers(workspace: Workspace, batch: Batch) -> Scenario:
    """Return the judges of the present scenario file if one of them has a server of its own, else those of the batch.

    The stored scenario has no key, and a store does not choose where a transcript or a key is sent.
    """
    scenario = stored_judges(batch)
    if not scenario_judge_servers(scenario):
        return scenario
    hint = f"Score the runs with a scenario file instead: salvo score {batch.batch_id} FILE"
    file = workspace.project.stored_source(batch.source, "A store does not choose where a judge is.", hint)
    overrides = ScenarioOverrides.from_batch(batch)
    scenario_now = workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.JUDGES)
    present = only_judges(judged_scenario(scenario_now) or scenario_now)
    workspace.register_judges(present)
    redactor = workspace.redactor()
    if json_codec.plain(clean_scenario(present, redactor)) != clean_document(_document(scenario), redactor):
        raise UsageError(f"{batch.source} has changed since the batch {batch.batch_id} was run.", hint=hint)
    return present


def _document(scenario: Scenario) -> dict[str, Any]:
    document: dict[str, Any] = json_codec.plain(scenario.model_dump(mode="json"))
    return document
