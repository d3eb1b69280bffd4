"""/api/reports/…/review, /api/review-queue: what people decide about reports, and what waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from salvo.playbooks.enums import Result, ShownStatus
from salvo.playbooks.report import labels
from salvo.playbooks.report.report import Report
from salvo.playbooks.report.verdict_reasons import check_title
from salvo.playbooks.review import wording
from salvo.playbooks.review.events import ReviewAction, ReviewDraft, ReviewEvent
from salvo.playbooks.review.queue import QueueAssigned, QueueFilter, QueueItem, QueueResult, QueueShow
from salvo.playbooks.review.reviewed import as_reviewed
from salvo.playbooks.review.rules import MAX_NAME_LENGTH, MAX_REASON_LENGTH
from salvo.playbooks.review.state import CheckReview, FindingReview, SignOff, event_histories, state
from salvo.playbooks.store.column_text import as_name
from salvo.records import record
from salvo.web.request_models import MAX_NAME_LENGTH as MAX_QUERY_LENGTH
from salvo.web.request_models import Limit, Name, Offset, RequestModel
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep, UserDep

router = APIRouter(prefix="/api", tags=["reviews"], route_class=JsonRoute)

PersonName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]


class ReviewCreate(
    RequestModel,
    json_schema_extra={
        "examples": [
            {
                "action": "override",
                "actor": "Ada Brown",
                "check_id": "certainty_language",
                "result": "pass",
                "reason": "It quotes the contract.",
                "seen": 0,
            }
        ]
    },
):
    """A step of a review. Which fields it needs depends on the action."""

    action: ReviewAction
    actor: PersonName | None = Field(
        default=None, description="Who does it: a name as typed. Not needed of a user who is logged in."
    )
    check_id: Name | None = None
    finding: int | None = Field(default=None, ge=1, le=1_000_000, description="A passage of the check, from 1.")
    result: Result | None = None
    reason: Annotated[str, Field(max_length=MAX_REASON_LENGTH)] = ""
    assignee: Annotated[str, Field(max_length=MAX_NAME_LENGTH)] | None = None
    target: Name | None = Field(default=None, description="The event to withdraw or amend.")
    blind: bool = Field(default=False, description="The reviewer has not seen the evaluator's result.")
    seen: int | None = Field(
        default=None, ge=0, le=1_000_000_000, description="The number of the newest event that the reviewer has seen."
    )
    state_hash: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="The state that the reviewer saw and signs. Refused if it has changed since."
    )


@record
class CheckReviewDetail:
    review: CheckReview
    sentence: str
    """Both results in words; empty if no reviewer decided."""


@record
class SignOffDetail:
    sign_off: SignOff
    sentence: str


@record
class ReviewStep:
    """A line of the history."""

    event: ReviewEvent
    sentence: str
    withdrawn: bool
    """Its author took it back."""
    changeable: bool
    """Whether its author can still withdraw or amend it."""


@record
class ReportReview:
    report_id: str
    headline: str
    """The evaluator's status, the reviewed one, and how many checks are not decided."""
    evaluator_status: ShownStatus
    reviewed_status: ShownStatus
    reviewed_status_reasons: list[str]
    undecided: int
    checks: list[CheckReviewDetail]
    findings: tuple[FindingReview, ...]
    """One for each finding in the text that no check made."""
    comments: tuple[ReviewEvent, ...]
    assignee: str | None
    sign_offs: list[SignOffDetail]
    history: list[ReviewStep]
    """The oldest first."""
    state_hash: str
    """What a sign-off would sign now."""
    last_sequence: int
    """The number of the newest event."""
    reviewers: list[str]
    """Everybody who reviewed something or to whom something was assigned, in any report."""
    not_authenticated: str
    """What to say beside a name that nobody checked."""


@router.get("/reports/{report_id}/review", operation_id="getReview")
def show_review(report_id: str, services: ServicesDep) -> ReportReview:
    """Return what people decided, said and signed about a report."""
    stored, report = services.load_with_report(report_id)
    store = services.store
    return report_review(report, store.review_events(stored.id), store.reviews.reviewers())


@router.post("/reports/{report_id}/review", status_code=201, operation_id="addReviewEvent")
def add_review(report_id: str, step: ReviewCreate, services: ServicesDep, user: UserDep) -> ReportReview:
    """Add a step to the review of a report, and return the review. Steps are never altered or removed.

    What a user does who is logged in is recorded in their name, whatever name was typed.
    """
    stored, report = services.load_with_report(report_id)
    store = services.store
    fields = {**step.model_dump(), "actor": user.authenticated_name or step.actor or ""}
    store.reviews.add(stored.id, ReviewDraft(**fields, authenticated=user.authenticated))
    return report_review(report, store.review_events(stored.id), store.reviews.reviewers())


def report_review(report: Report, events: Sequence[ReviewEvent], reviewers: list[str]) -> ReportReview:
    now = state(report, events)
    reviewed = as_reviewed(report, now)
    evaluator_status, reviewed_status = labels.status(report), labels.status(reviewed)
    return ReportReview(
        report_id=report.report_id,
        headline=wording.headline(now, evaluator_status, reviewed_status),
        evaluator_status=evaluator_status,
        reviewed_status=reviewed_status,
        reviewed_status_reasons=labels.status_reasons(reviewed),
        undecided=now.undecided,
        checks=[CheckReviewDetail(check, wording.check_sentence(check)) for check in now.checks],
        findings=now.findings,
        comments=now.comments,
        assignee=now.assignee,
        sign_offs=[SignOffDetail(signed, wording.sign_off_sentence(signed)) for signed in now.sign_offs],
        history=_history(report, events),
        state_hash=now.state_hash,
        last_sequence=now.last_sequence,
        reviewers=reviewers,
        not_authenticated=wording.NOT_AUTHENTICATED,
    )


def _history(report: Report, events: Sequence[ReviewEvent]) -> list[ReviewStep]:
    by_id = {event.event_id: event for event in events}
    names = {as_name(check.check_id): f"“{check_title(check.check_id)}”" for check in report.check_results}
    open_events = {history.original.event_id: history.withdrawal is None for history in event_histories(events)}
    return [
        ReviewStep(
            event,
            wording.event_sentence(event, by_id, names),
            withdrawn=open_events.get(event.event_id) is False,
            changeable=open_events.get(event.event_id, False),
        )
        for event in events
    ]


@record
class ReviewQueuePage:
    """Undecided before decided, disagreements first, then failures, then the newest."""

    items: list[QueueItem]
    total: int
    """How many match the filters."""
    waiting: int
    """How many of those wait for a decision."""
    offset: int
    limit: int
    reviewers: list[str]
    """Everybody who reviewed something or to whom something was assigned."""


@router.get("/review-queue", operation_id="listReviewQueue")
def review_queue(
    services: ServicesDep,
    show: Annotated[QueueShow, Query(description="Checks that wait for a decision, decided ones, or all.")] = (
        QueueShow.WAITING
    ),
    result: Annotated[QueueResult, Query(description="By the evaluator's result; concerns: not a plain pass.")] = (
        QueueResult.CONCERNS
    ),
    assigned: Annotated[QueueAssigned, Query(description="To whom they are assigned.")] = QueueAssigned.ANYBODY,
    me: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="The reviewer's name, for `assigned`.")] = "",
    subject: Annotated[str | None, Query(max_length=MAX_QUERY_LENGTH, description="Only this subject.")] = None,
    disagreements: Annotated[bool, Query(description="Only checks about which judges or reviewers disagree.")] = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> ReviewQueuePage:
    """Return the checks of stored reports that wait for a decision."""
    filters = QueueFilter(show, result, assigned, me.strip(), subject, disagreements)
    reviews = services.store.reviews
    queue = reviews.queue(filters, limit=limit, offset=offset)
    return ReviewQueuePage(queue.items, queue.total, queue.waiting, offset, limit, reviews.reviewers())
