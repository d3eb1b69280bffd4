"""What reviewers decided about checks, from which a judge's agreement with people is computed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from salvo.playbooks.enums import Result
from salvo.playbooks.review.events import DECISIONS, ReviewEvent
from salvo.playbooks.review.state import event_histories
from salvo.records import record


@record
class ReviewLabel:
    """What one reviewer decided about one check of one report."""

    report_id: str
    check_id: str
    reviewer: str
    authenticated: bool
    evaluator_result: Result
    reviewer_result: Result
    blind: bool
    at: str
    evaluated_at: str
    playbook_id: str
    playbook_version: str
    playbook_hash: str
    evaluator: str
    subject: str
    inputs_fingerprint: str


def deciding_events(events: Iterable[ReviewEvent]) -> list[ReviewEvent]:
    """Return the one decision of each reviewer about each check of a report that is a label.

    A blind decision comes before one that was made knowing the evaluator's result; otherwise the newest counts.
    """
    chosen: dict[tuple[str | None, str], ReviewEvent] = {}
    for history in event_histories(events):
        event = history.current
        is_label = event.action in DECISIONS and event.finding is None and event.result is not None
        if not is_label or history.withdrawal is not None:
            continue
        place = (event.check_id, event.actor)
        earlier = chosen.get(place)
        if earlier is None or (event.blind, event.sequence) > (earlier.blind, earlier.sequence):
            chosen[place] = event
    return list(chosen.values())
