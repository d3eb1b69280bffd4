"""The rows of review events. Each is stored together with its entry in the audit log, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from itertools import groupby
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, func, insert, select

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.errors import DamagedEvaluationError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.events import ReviewAction, ReviewDraft, ReviewEvent
from salvo.playbooks.review.labels import ReviewLabel, deciding_events
from salvo.playbooks.review.queue import QueuedReport, QueueFilter, ReviewQueue, queue_items
from salvo.playbooks.review.rules import checked_draft
from salvo.playbooks.store.column_text import as_name, as_text, parse_report
from salvo.playbooks.store.damage import PARSE_ERRORS, as_logged, check_columns, damaged_evaluation
from salvo.playbooks.store.database import DatabaseStore
from salvo.playbooks.store.queueing import notifications
from salvo.playbooks.store.records import State
from salvo.playbooks.store.rows import audit_entries
from salvo.playbooks.store.rows import evaluations as evaluation_rows
from salvo.playbooks.store.tables import documents, evaluations, playbooks, review_texts, reviews, votes

_EVENTS = (
    select(reviews, review_texts.c.reason)
    .select_from(reviews.outerjoin(review_texts, review_texts.c.event_id == reviews.c.event_id))
    .order_by(reviews.c.evaluation_id, reviews.c.sequence)
)


_COMPARED_COLUMNS = ("subject", "evaluator", "playbook_hash", "inputs_fingerprint")
"""What tells which text of which series was judged, by whom and with what."""
_QUEUE_COLUMNS = {**evaluations.c, "document": documents.c.title}


class ReviewStore(DatabaseStore):
    def events(self, report_id: str) -> list[ReviewEvent]:
        """Return the events about a report, the oldest first."""
        with self._database.reading() as connection:
            return _list_events(connection, report_id)

    def add(self, report_id: str, draft: ReviewDraft) -> ReviewEvent:
        """Add an event, and return it. UsageError if the report cannot have it; ReviewChangedError if it was reviewed
        further since the signer looked at it.
        """
        now = self._now()
        with self._database.writing(alone=True) as connection:
            row = evaluation_rows.get_row(connection, report_id)
            events = _list_events(connection, report_id)
            checked = checked_draft(draft, _report(row), events)
            salt = self._clock.new_id() if checked.reason else None
            sequence = events[-1].sequence + 1 if events else 1
            event = _new_event(self._clock.new_id(), report_id, now, checked, sequence, salt)
            columns = event_columns(event)
            connection.execute(insert(reviews), columns)
            if salt is not None:
                text = {"event_id": event.event_id, "salt": salt, "reason": as_text(event.reason)}
                connection.execute(insert(review_texts), text)
            report_hash = as_logged(row["report_hash"])
            content = audit_log.content(audit_log.REVIEW, report_id, report_hash, at=now, review=columns)
            audit_entries.append(connection, content)
            notifications.evaluation_changed(connection, report_id)
        return event

    def labels(self, *, playbook_hash: str | None = None, check_id: str | None = None) -> list[ReviewLabel]:
        """Return one row per report, check and reviewer, the oldest report first; of one playbook or check, or of all.

        A decision that was withdrawn is left out. See `deciding_events` for a reviewer who decided several times.
        """
        facts = (
            evaluations.c.id,
            evaluations.c.created_at,
            evaluations.c.evaluator,
            evaluations.c.subject,
            evaluations.c.inputs_fingerprint,
            evaluations.c.playbook_hash,
            evaluations.c.outcomes,
            playbooks.c.id.label("playbook_id"),
            playbooks.c.version.label("playbook_version"),
        )
        reviewed = select(reviews.c.evaluation_id)
        reports = select(*facts).join(playbooks).where(evaluations.c.id.in_(reviewed)).order_by(evaluations.c.id)
        query = _EVENTS
        if playbook_hash is not None:
            reports = reports.where(evaluations.c.playbook_hash == playbook_hash)
            of_playbook = select(evaluations.c.id).where(evaluations.c.playbook_hash == playbook_hash)
            query = query.where(reviews.c.evaluation_id.in_(of_playbook))
        with self._database.reading() as connection:
            by_report = _by_report(connection, query)
            rows = list(connection.execute(reports).mappings())
        return [
            label
            for row in rows
            for label in _labels(row, by_report.get(row["id"], []))
            if check_id is None or label.check_id == check_id
        ]

    def reviewers(self) -> list[str]:
        """Return the names of everybody who reviewed something or to whom something was assigned."""
        names = select(reviews.c.actor).union(select(reviews.c.assignee).where(reviews.c.assignee.is_not(None)))
        with self._database.reading() as connection:
            return sorted(name for name in connection.scalars(names) if isinstance(name, str))

    def queue(self, filters: QueueFilter, *, limit: int = 50, offset: int = 0) -> ReviewQueue:
        """Return which checks of all reports wait for a decision, the most urgent first."""
        items = queue_items(self.reports(), filters)
        waiting = sum(item.waits for item in items)
        return ReviewQueue(items[offset : offset + limit], len(items), waiting)

    def reports(self, *, with_text: bool = False) -> list[QueuedReport]:
        """Return every report with its events, the newest first; `with_text`: only those whose text is stored."""
        columns = evaluations.c
        newest_first = (
            select(
                columns.id,
                columns.created_at,
                columns.subject,
                columns.evaluator,
                columns.playbook_hash,
                columns.inputs_fingerprint,
                columns.outcomes,
                func.coalesce(documents.c.title, "").label("document"),
            )
            .outerjoin(documents, documents.c.evaluation_id == columns.id)
            .where(columns.state == State.DONE)
            .order_by(columns.id.desc())
        )
        if with_text:
            newest_first = newest_first.where(columns.stored_in_full)
        with self._database.reading() as connection:
            rows = list(connection.execute(newest_first).mappings())
            event_rows = list(connection.execute(_EVENTS).mappings())
            split = _split_checks(connection)
            used = connection.execute(select(playbooks.c.logic_hash, playbooks.c.document)).all()
        questions = {logic_hash: _questions(document) for logic_hash, document in used}
        by_report: dict[str, list[RowMapping]] = {}
        for row in event_rows:
            by_report.setdefault(row["evaluation_id"], []).append(row)
        reports = []
        for row in rows:
            with suppress(DamagedEvaluationError):  # `byop verify --all` names it
                events = [_event(event_row) for event_row in by_report.get(row["id"], ())]
                reports.append(_queued(row, events, split.get(row["id"], set()), questions))
        return reports


def _split_checks(connection: Connection) -> dict[str, set[str]]:
    """Return the checks whose valid votes differ, by report."""
    query = (
        select(votes.c.evaluation_id, votes.c.check_id)
        .where(votes.c.valid)
        .group_by(votes.c.evaluation_id, votes.c.check_id)
        .having(func.count(votes.c.result.distinct()) > 1)
    )
    split: dict[str, set[str]] = {}
    for report_id, check_id in connection.execute(query):
        split.setdefault(report_id, set()).add(check_id)
    return split


def _questions(document: str) -> dict[str, tuple[Severity, str]]:
    """Return severity and question of each check of a playbook; nothing if it is damaged, which `verify` says."""
    try:
        checks = json_codec.loads(document)["checks"]
        return {str(check["id"]): (Severity(check["severity"]), str(check["question"])) for check in checks}
    except PARSE_ERRORS:
        return {}


def _queued(
    row: RowMapping,
    events: list[ReviewEvent],
    split: set[str],
    questions: dict[str, dict[str, tuple[Severity, str]]],
) -> QueuedReport:
    try:
        check_columns(dict(row), _QUEUE_COLUMNS)
        outcomes = _results(row["outcomes"])
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error
    return QueuedReport(
        report_id=row["id"],
        created_at=row["created_at"],
        **_compared(row),
        outcomes=outcomes,
        questions=questions.get(row["playbook_hash"], {}),
        split_checks=frozenset(split),
        events=events,
        document=row["document"],
    )


def _compared(row: RowMapping) -> dict[str, Any]:
    return {name: row[name] for name in _COMPARED_COLUMNS}


def _report(row: RowMapping) -> Report:
    if row["state"] != State.DONE or row["report"] is None:
        raise UsageError(
            f"The evaluation {row['id']} has no report to review: it is {row['state']}.",
            hint="It can be reviewed once it is done.",
        )
    try:
        return parse_report(row["report"], f"The report {row['id']}")
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error


def _new_event(
    event_id: str, report_id: str, at: str, draft: ReviewDraft, sequence: int, salt: str | None
) -> ReviewEvent:
    fields = asdict(draft)
    fields["check_id"] = None if draft.check_id is None else as_name(draft.check_id)
    digest = None if salt is None else reason_hash(salt, as_text(draft.reason))
    return ReviewEvent(event_id=event_id, report_id=report_id, at=at, sequence=sequence, reason_sha256=digest, **fields)


def reason_hash(salt: str, column: str) -> str:
    """Return the hash of a text as the column has it. Without the salt, short texts could be guessed from it."""
    return sha256(f"{salt}\n{column}".encode("utf-8", "surrogatepass"))


def event_columns(event: ReviewEvent) -> dict[str, Any]:
    """Return the row, which is what the audit log records."""
    fields = {name: value for name, value in asdict(event).items() if name not in ("report_id", "reason")}
    return {
        **fields,
        "evaluation_id": event.report_id,
        "action": str(event.action),
        "result": None if event.result is None else str(event.result),
    }


def _list_events(connection: Connection, report_id: str) -> list[ReviewEvent]:
    query = _EVENTS.where(reviews.c.evaluation_id == report_id)
    return [_event(row) for row in connection.execute(query).mappings()]


def _by_report(connection: Connection, query: Select[Any]) -> dict[str, list[ReviewEvent]]:
    events = [_event(row) for row in connection.execute(query).mappings()]
    return {report_id: list(group) for report_id, group in groupby(events, key=lambda event: event.report_id)}


def _event(row: RowMapping) -> ReviewEvent:
    values = dict(row)
    try:
        check_columns(values, dict(reviews.c))
        reason = values.pop("reason")
        return ReviewEvent(
            report_id=values.pop("evaluation_id"),
            action=ReviewAction(values.pop("action")),
            result=None if (result := values.pop("result")) is None else Result(result),
            reason="" if reason is None else json_codec.loads(reason),
            **values,
        )
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["evaluation_id"], error) from error


def _labels(row: RowMapping, events: list[ReviewEvent]) -> list[ReviewLabel]:
    try:
        outcomes = {as_name(check_id): (check_id, result) for check_id, result in _results(row["outcomes"]).items()}
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error
    return [
        ReviewLabel(
            report_id=row["id"],
            check_id=outcomes[event.check_id][0],
            reviewer=event.actor,
            authenticated=event.authenticated,
            evaluator_result=outcomes[event.check_id][1],
            reviewer_result=event.result,
            blind=event.blind,
            at=event.at,
            evaluated_at=row["created_at"],
            playbook_id=row["playbook_id"],
            playbook_version=row["playbook_version"],
            **_compared(row),
        )
        for event in deciding_events(events)
        if event.check_id in outcomes and event.result is not None
    ]


@lru_cache(maxsize=1024)
def _results(outcomes: str) -> Mapping[str, Result]:
    """Return the result of each check. Cached, because most of many reports have one of a few combinations."""
    results = json_codec.loads(outcomes)
    if not isinstance(results, dict):
        raise TypeError("outcomes is no object")
    return MappingProxyType({check_id: Result(result) for check_id, result in results.items()})
