"""From what a store kept to what the program works with, to go on with an evaluation or to replay it."""

from __future__ import annotations

from salvo.errors import NotReplayableError
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.playbook.validate import playbook
from salvo.playbooks.store.records import StoredEvaluation


def stored_request(stored: StoredEvaluation) -> EvaluationRequest:
    """What was asked for then."""
    if stored.inputs is None:
        raise NotReplayableError(
            f"Of the evaluation {stored.id} only hashes are stored, so its texts are not here.",
            hint="Evaluate the text again.",
        )
    return EvaluationRequest(
        report_id=stored.id,
        playbook=playbook(stored.playbook, "The stored playbook"),
        inputs=stored.inputs,
        evaluator=stored.evaluator,
        mode=stored.mode,
        runs=stored.runs,
        subject=stored.subject,
        producer=stored.producer,
    )
