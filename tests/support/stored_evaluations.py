"""Evaluations in a store."""

from collections.abc import Callable
from typing import Any

from click.testing import Result

from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_playbook, a_report, some_inputs, some_votes

NAMES = ("01k9aaaaaaaaaaaa", "01k9bbbbbbbbbbbb", "01k9cccccccccccc")
"""Ids of evaluations that have a common prefix."""
Byop = Callable[..., Result]


def begin_evaluation(
    store: EvaluationStore, name: str = "id-0001", *, inputs: Inputs | None = None, **changes: Any
) -> str:
    fields: dict[str, Any] = {
        "report_id": name,
        "playbook": a_playbook(),
        "inputs": inputs or some_inputs(),
        "evaluator": "anthropic/claude-sonnet-4-6",
        "mode": Mode.FULL,
        "runs": 3,
        "subject": "default",
    }
    options = {name: changes.pop(name) for name in ("settings", "in_full", "group", "submission") if name in changes}
    store.begin(EvaluationRequest(**{**fields, **changes}), **options)
    return name


def finish_evaluation(
    store: EvaluationStore,
    name: str = "id-0001",
    *,
    report: Report | None = None,
    votes: list[Vote] | None = None,
    **changes: Any,
) -> Report:
    """Store a finished evaluation and return its report. `changes` replace fields of the new evaluation."""
    begin_evaluation(store, name, **changes)
    for vote in some_votes() if votes is None else votes:
        store.save_votes(name, [vote])
    finished_report = report or a_report(
        report_id=name,
        playbook=changes.get("playbook"),
        inputs=changes.get("inputs"),
        execution_mode=changes.get("mode", Mode.FULL),
        subject=changes.get("subject", "default"),
    )
    store.finish(name, finished_report)
    return finished_report
