"""From what a store kept to what the program works with, to go on with an evaluation or to replay it."""

from __future__ import annotations

from salvo.errors import NotReplayableError
from salvo.playbooks.order import Order
from salvo.playbooks.store.records import StoredEvaluation
from salvo.playbooks.validate import playbook


def order_of(stored: StoredEvaluation) -> Order:
    """What was asked for then."""
    if stored.inputs is None:
        raise NotReplayableError(
            f"Of the evaluation {stored.id} only hashes are stored, so its texts are not here.",
            hint="Evaluate the text again.",
        )
    return Order(
        report_id=stored.id,
        playbook=playbook(stored.playbook, "The stored playbook"),
        inputs=stored.inputs,
        evaluator=stored.evaluator,
        mode=stored.mode,
        runs=stored.runs,
        subject=stored.subject,
        producer=stored.producer,
    )
