"""What waits for a reviewer: checks of stored reports, the most urgent first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from salvo.playbooks.enums import DERIVED, Result, Severity
from salvo.playbooks.review.events import ReviewAction, ReviewEvent, ReviewStanding
from salvo.playbooks.review.state import event_histories, newest_assignee, reviewed_result, standing_decisions
from salvo.playbooks.store.column_text import as_name
from salvo.records import record


class QueueShow(StrEnum):
    WAITING = "waiting"
    DECIDED = "decided"
    ALL = "all"


class QueueResult(StrEnum):
    """Which results of the evaluator are listed."""

    CONCERNS = "concerns"
    """Failed, indeterminate, or judges or reviewers disagree."""
    FAIL = "fail"
    INDETERMINATE = "indeterminate"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    ALL = "all"


class QueueAssigned(StrEnum):
    ANYBODY = "anybody"
    ME = "me"
    ME_OR_NOBODY = "me_or_nobody"
    NOBODY = "nobody"


@record
class QueueFilter:
    show: QueueShow = QueueShow.WAITING
    result: QueueResult = QueueResult.CONCERNS
    assigned: QueueAssigned = QueueAssigned.ANYBODY
    me: str = ""
    subject: str | None = None
    disagreements: bool = False
    """Only checks about which judges or reviewers disagree."""


@record
class QueuedReport:
    """What the queue needs to know of a report."""

    report_id: str
    created_at: str
    subject: str
    evaluator: str
    playbook_hash: str
    inputs_fingerprint: str
    outcomes: Mapping[str, Result]
    questions: Mapping[str, tuple[Severity, str]]
    """Severity and question of each check."""
    split_checks: frozenset[str] = frozenset()
    """Checks on which the votes of the evaluator differ, by the names that the votes have."""
    events: Sequence[ReviewEvent] = ()
    document: str = ""
    """The title of the document; empty if it has none."""


@record
class QueueItem:
    report_id: str
    check_id: str
    question: str
    severity: Severity
    evaluator_result: Result
    reviewed_result: Result
    standing: ReviewStanding
    judges_disagree: bool
    """Another evaluator of the same text and playbook came to another result."""
    votes_split: bool
    """The votes of this evaluator differ."""
    assignee: str | None
    """Of the check, or else of the report."""
    comments: int
    subject: str
    evaluator: str
    created_at: str
    document: str
    last_sequence: int
    """The number of the newest event about the report; a decision sends it back, so that nobody is overruled unseen."""

    @property
    def disagreement(self) -> bool:
        return self.judges_disagree or self.votes_split or self.standing is ReviewStanding.DISPUTED

    @property
    def waits(self) -> bool:
        return self.standing in (ReviewStanding.UNDECIDED, ReviewStanding.DISPUTED)


@record
class ReviewQueue:
    items: list[QueueItem] = field(default_factory=list)
    total: int = 0
    """How many items match the filter."""
    waiting: int = 0
    """How many of them wait for a decision."""


def queue_items(reports: Sequence[QueuedReport], filters: QueueFilter) -> list[QueueItem]:
    """Return what matches: undecided before decided, disagreements first, then failures, then the newest.

    Reports are the newest first.
    """
    others = _outcomes_by_text(reports)
    subject = None if filters.subject is None else as_name(filters.subject)
    items = [
        item
        for report in reports
        if subject is None or report.subject == subject
        for item in _report_items(report, others[report.playbook_hash, report.inputs_fingerprint])
    ]
    return sorted((item for item in items if _matches(item, filters)), key=_urgency)


def _outcomes_by_text(reports: Iterable[QueuedReport]) -> dict[tuple[str, str], dict[str, dict[str, Result]]]:
    """Return by playbook and text, and then by evaluator, the newest result of each check."""
    by_text: dict[tuple[str, str], dict[str, dict[str, Result]]] = defaultdict(dict)
    for report in reports:
        by_evaluator = by_text[report.playbook_hash, report.inputs_fingerprint]
        newest = by_evaluator.get(report.evaluator, {})
        # An older report may have checks that the newest one does not have.
        by_evaluator[report.evaluator] = {**report.outcomes, **newest}
    return by_text


def _report_items(report: QueuedReport, by_evaluator: Mapping[str, Mapping[str, Result]]) -> Iterator[QueueItem]:
    active = [history.current for history in event_histories(report.events) if history.withdrawal is None]
    assigned_report = newest_assignee(event for event in active if event.check_id is None)
    for check_id, result in sorted(report.outcomes.items()):
        if check_id in DERIVED:
            continue
        name = as_name(check_id)
        events = [event for event in active if event.check_id == name]
        on_check = [event for event in events if event.finding is None]
        reviewed, standing = reviewed_result(result, standing_decisions(on_check))
        severity, question = report.questions.get(check_id, (Severity.MEDIUM, check_id))
        yield QueueItem(
            report_id=report.report_id,
            check_id=check_id,
            question=question,
            severity=severity,
            evaluator_result=result,
            reviewed_result=reviewed,
            standing=standing,
            judges_disagree=len(by_evaluator) > 1 and _differ(check_id, by_evaluator.values()),
            votes_split=name in report.split_checks,
            assignee=newest_assignee(on_check) or assigned_report,
            comments=sum(event.action is ReviewAction.COMMENT for event in events),
            subject=report.subject,
            evaluator=report.evaluator,
            created_at=report.created_at,
            document=report.document,
            last_sequence=report.events[-1].sequence if report.events else 0,
        )


def _differ(check_id: str, outcomes: Iterable[Mapping[str, Result]]) -> bool:
    return len({results[check_id] for results in outcomes if check_id in results}) > 1


def _matches(item: QueueItem, filters: QueueFilter) -> bool:
    if filters.show is not QueueShow.ALL and item.waits != (filters.show is QueueShow.WAITING):
        return False
    if filters.disagreements and not item.disagreement:
        return False
    return _has_result(item, filters.result) and _is_assigned(item.assignee, filters)


def _has_result(item: QueueItem, result: QueueResult) -> bool:
    if result is QueueResult.CONCERNS:
        return item.evaluator_result is not Result.PASS or item.disagreement
    return result is QueueResult.ALL or item.evaluator_result == result.value


def _is_assigned(assignee: str | None, filters: QueueFilter) -> bool:
    if filters.assigned is QueueAssigned.NOBODY:
        return assignee is None
    if filters.assigned is QueueAssigned.ME:
        return assignee is not None and assignee == filters.me
    return filters.assigned is QueueAssigned.ANYBODY or assignee in (None, filters.me)


_RESULT_ORDER = {Result.FAIL: 0, Result.INDETERMINATE: 1, Result.PASS: 2}


def _urgency(item: QueueItem) -> tuple[object, ...]:
    """Return what the order of items depends on before the order of their reports and checks, which stays."""
    return (
        not item.waits,
        item.standing is not ReviewStanding.DISPUTED,
        not item.judges_disagree,
        not item.votes_split,
        _RESULT_ORDER[item.evaluator_result],
        item.severity is not Severity.HIGH,
    )
