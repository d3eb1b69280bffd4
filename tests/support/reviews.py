"""Review events of a report."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.events import ReviewAction, ReviewDraft, ReviewEvent
from salvo.playbooks.review.rules import checked_draft
from tests.support.playbooks import a_report

FAILED = "certainty_language"
PASSED = "assumption_disclosure"


def accept(actor: str = "Ada", check_id: str = FAILED, **fields: Any) -> ReviewDraft:
    return ReviewDraft(ReviewAction.ACCEPT, actor, check_id=check_id, **fields)


def override(
    actor: str = "Ada", check_id: str = FAILED, result: Result | None = Result.PASS, **fields: Any
) -> ReviewDraft:
    fields = {"reason": "The clause is quoted, not asserted.", **fields}
    return ReviewDraft(ReviewAction.OVERRIDE, actor, check_id=check_id, result=result, **fields)


def comment(actor: str = "Ada", reason: str = "Is this the final text?", **fields: Any) -> ReviewDraft:
    return ReviewDraft(ReviewAction.COMMENT, actor, reason=reason, **fields)


def sign_off(actor: str = "Ada", **fields: Any) -> ReviewDraft:
    return ReviewDraft(ReviewAction.SIGN_OFF, actor, **fields)


def withdraw(target: str, actor: str = "Ada", **fields: Any) -> ReviewDraft:
    return ReviewDraft(ReviewAction.WITHDRAW, actor, target=target, **fields)


def amend(target: str, actor: str = "Ada", **fields: Any) -> ReviewDraft:
    return ReviewDraft(ReviewAction.AMEND, actor, target=target, **fields)


def events_of(drafts: Sequence[ReviewDraft], report: Report | None = None) -> list[ReviewEvent]:
    """Return what the store makes of the drafts, one after the other; the ids are e1, e2, and so on."""
    events: list[ReviewEvent] = []
    for number, draft in enumerate(drafts, start=1):
        fields = asdict(checked_draft(draft, report or a_report(), events))
        digest = sha256(draft.reason.encode()) if draft.reason else None
        event = ReviewEvent(
            event_id=f"e{number}",
            report_id="id-0001",
            sequence=number,
            at=f"2026-11-15T12:{number:02}:00.000+00:00",
            reason_sha256=digest,
            **fields,
        )
        events.append(event)
    return events
