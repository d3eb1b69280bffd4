"""Build the review section of a report's files. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.report import labels
from salvo.playbooks.report.report import Report
from salvo.playbooks.review import wording
from salvo.playbooks.review.events import ReviewEvent
from salvo.playbooks.review.reviewed import as_reviewed
from salvo.playbooks.review.section import ReviewedCheck, ReviewedSignOff, ReviewSection
from salvo.playbooks.review.state import ReviewState, state


def review_section(report: Report, events: Sequence[ReviewEvent], *, decides: bool = False) -> ReviewSection | None:
    """Return the section. None if nobody reviewed the report, unless the reviewed result is to decide."""
    if not events and not decides:
        return None
    now = state(report, events)
    reviewed = as_reviewed(report, now)
    by_id = {event.event_id: event for event in events}
    checks = [(check, tuple(wording.check_lines(check))) for check in now.checks]
    return ReviewSection(
        decides=decides,
        evaluator_status=labels.status(report),
        reviewed_status=labels.status(reviewed),
        reviewed_status_reasons=tuple(labels.status_reasons(reviewed)),
        headline=wording.headline(now, labels.status(report), labels.status(reviewed)),
        checks=tuple(
            ReviewedCheck(check.check_id, check.evaluator_result, check.reviewed_result, check.standing, lines)
            for check, lines in checks
            if lines
        ),
        lines=tuple(_report_lines(now)),
        sign_offs=tuple(
            ReviewedSignOff(
                signed.event.actor,
                signed.event.authenticated,
                signed.event.at,
                signed.standing,
                signed.event.state_hash,
                wording.sign_off_sentence(signed),
            )
            for signed in now.sign_offs
        ),
        state_hash=now.state_hash,
        history=tuple(wording.event_sentence(event, by_id) for event in events),
        events=tuple(events),
    )


def deciding_report(report: Report, review: ReviewSection | None) -> Report:
    """Return the report whose status counts: the one as reviewed if the review decides, otherwise the report itself."""
    if review is None or not review.decides:
        return report
    return as_reviewed(report, state(report, review.events))


def shown_result(report: Report, review: ReviewSection | None) -> str:
    """Return the status in a title: the evaluator's, or if the review decides both."""
    if review is None or not review.decides:
        return labels.status(report)
    return f"{review.reviewed_status} after the review ({review.evaluator_status} by the evaluator)"


def _report_lines(now: ReviewState) -> list[str]:
    assigned = [] if now.assignee is None else [f"The report is assigned to {now.assignee}."]
    findings = [line for finding in now.findings for line in wording.finding_lines(finding)]
    return [*assigned, *map(wording.comment_sentence, now.comments), *findings]
