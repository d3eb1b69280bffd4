"""Compare the review events of a report with the audit log. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.audit.projection import LoggedEvaluation, LoggedRows
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState, join_first
from salvo.playbooks.audit.verification.verify_rows import row_changes
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.build_section import review_section
from salvo.playbooks.review.review_store import event_columns, reason_hash
from salvo.playbooks.review.section import ReviewSection
from salvo.playbooks.store.column_text import as_text
from salvo.playbooks.store.records import RawRow, RawRows
from salvo.playbooks.store.tables import review_texts, reviews

PART = "reviews"


def check_reviews(rows: RawRows, log: LoggedRows) -> list[VerificationFinding]:
    """Name every review event that was altered, removed or added; nothing for a report that nobody reviewed."""
    evaluation_id = (rows.evaluation or {}).get("id")
    logged = log.evaluations.get(str(evaluation_id), LoggedEvaluation())
    if not rows.reviews and not logged.reviews:
        return []
    if logged.unreadable:
        message = "The review events cannot be compared with the audit log: an entry about the report was altered."
        return [VerificationFinding(PART, VerificationState.UNKNOWN, message)]
    changes = [*_changes(rows, logged.reviews)]
    if changes:
        message = f"Review events were altered after they were stored: {join_first(changes)}."
        return [VerificationFinding(PART, VerificationState.ALTERED, message)]
    events = pluralize(len(rows.reviews), "review event is", "review events are")
    message = f"{events} what the audit log says, with the names and texts as they were written."
    return [VerificationFinding(PART, VerificationState.HOLDS, message)]


def check_section(report: Report, section: ReviewSection) -> VerificationFinding:
    """Derive what a file says about the review again from the events that it lists."""
    if review_section(report, section.events, decides=section.decides) == section:
        message = "The reviewed results and sign-offs follow from the review events that the file lists."
        return VerificationFinding(PART, VerificationState.HOLDS, message)
    message = "The reviewed results or sign-offs do not follow from the review events that the file lists."
    return VerificationFinding(PART, VerificationState.CONTRADICTED, message)


def check_section_in_log(section: ReviewSection, rows: RawRows, logged: LoggedEvaluation) -> VerificationFinding:
    """Compare the review events of a file with the audit log. Events that came after the file are no alteration."""
    texts = {str(row["event_id"]): row for row in rows.review_texts}
    changes = []
    for event in section.events:
        expected = logged.reviews.get(event.event_id)
        columns = event_columns(event)
        if expected is None:
            changes.append(f"{_name(event.event_id, columns)} is in the file only")
            continue
        changes += [
            f"of {_name(event.event_id, expected)}, {name} is {value}, the audit log says {expected.get(name)}"
            for name, value in columns.items()
            if value != expected.get(name)
        ]
        text = texts.get(event.event_id)
        if text is not None and reason_hash(str(text["salt"]), as_text(event.reason)) != expected.get("reason_sha256"):
            changes.append(f"the text of {_name(event.event_id, expected)} does not match its hash in the audit log")
    newest = max((event.sequence for event in section.events), default=0)
    listed_ids = {event.event_id for event in section.events}
    others = {event_id: columns for event_id, columns in logged.reviews.items() if event_id not in listed_ids}
    changes += [
        f"{_name(event_id, columns)} is missing in the file"
        for event_id, columns in others.items()
        if columns.get("sequence", 0) < newest
    ]
    if changes:
        message = f"The review in the file differs from the audit log: {join_first(changes)}."
        return VerificationFinding(PART, VerificationState.ALTERED, message)
    later = f" {pluralize(len(others), 'event')} came after it." if others else ""
    message = f"The audit log has every review event of the file.{later}"
    return VerificationFinding(PART, VerificationState.HOLDS, message)


def _changes(rows: RawRows, logged: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    stored = {str(row["event_id"]): row for row in rows.reviews}
    texts = {str(row["event_id"]): row for row in rows.review_texts}
    for event_id, row in stored.items():
        expected = logged.get(event_id)
        if expected is None:
            yield f"{_name(event_id, row)} was added to {reviews.name}"
            continue
        name = _name(event_id, expected)
        yield from (f"of {name}, {change}" for change in row_changes(reviews, row, expected))
        yield from _text_changes(name, texts.get(event_id), expected.get("reason_sha256"))
    for event_id in logged.keys() - stored.keys():
        yield f"{_name(event_id, logged[event_id])} was removed from {reviews.name}"


def _text_changes(name: str, text: RawRow | None, expected: Any) -> Iterator[str]:
    if text is None:
        if expected is not None:
            yield f"the text of {name} was removed from {review_texts.name}"
    elif expected is None:
        yield f"a text was added to {name} in {review_texts.name}"
    elif reason_hash(str(text["salt"]), str(text["reason"])) != expected:
        yield f"the text of {name} does not match its hash in the audit log"


def _name(event_id: str, columns: Mapping[str, Any]) -> str:
    about = f" of {columns['check_id']}" if columns.get("check_id") else ""
    return f"the event {event_id} ({columns.get('action')}{about} by {columns.get('actor')}, {columns.get('at')})"
