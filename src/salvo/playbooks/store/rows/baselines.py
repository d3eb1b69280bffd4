"""The rows of saved baselines, and the choice of the report that a new one is compared with."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, exists, insert, select

from salvo.errors import UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.enums import Mode
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.records import BaselineRecord, State
from salvo.playbooks.store.rows import audit_entries
from salvo.playbooks.store.rows.evaluations import IS_BASELINE, check_evaluation, make_record, select_fields
from salvo.playbooks.store.tables import baselines, documents, evaluations


def save(connection: Connection, row: RowMapping, now: str, reason: str = "", *, user: str | None = None) -> None:
    """Make the report of an evaluation the baseline of its series, in place of another one.

    A saved one stays as it is. Only in an exclusive transaction, so that a series never has two.
    """
    check_evaluation(row)
    _check_suitable(row)
    if row["baseline_since"] is not None:
        return
    series = {name: row[name] for name in ("playbook_hash", "subject")}
    replaced = select(evaluations).join(baselines, baselines.c.evaluation_id == evaluations.c.id)
    of_series = (baselines.c.playbook_hash == series["playbook_hash"], baselines.c.subject == series["subject"])
    for earlier in connection.execute(replaced.where(*of_series)).mappings().all():
        _remove(connection, earlier, now, user)
    connection.execute(insert(baselines).values(evaluation_id=row["id"], saved_at=now, **series))
    details = {"reason": reason} if reason else {}
    _log(connection, audit_log.BASELINE_SET, row, now, **details, **audit_log.who(user))


def _check_suitable(row: RowMapping) -> None:
    evaluation_id = row["id"]
    if row["mode"] == Mode.SCREENING:
        raise UsageError(
            f"The report {evaluation_id} is a screening: {Mode.SCREENING.label}.",
            hint="Run a full evaluation, and save that as the baseline.",
        )
    if row["state"] != State.DONE:
        raise UsageError(
            f"The evaluation {evaluation_id} has no report: it is {row['state']}.",
            hint="Save one that is done as the baseline.",
        )
    if row["incomplete"]:
        raise UsageError(
            f"The report {evaluation_id} is incomplete: some checks have fewer than a majority of valid votes.",
            hint="Later reports could not be compared with what is missing. Run the evaluation again.",
        )


def clear(connection: Connection, row: RowMapping, now: str, *, user: str | None = None) -> bool:
    """Remove a baseline, and return whether there was one. Only in an exclusive transaction."""
    if row["baseline_since"] is None:
        return False
    _remove(connection, row, now, user)
    return True


def _remove(connection: Connection, row: RowMapping, now: str, user: str | None) -> None:
    connection.execute(delete(baselines).where(baselines.c.evaluation_id == row["id"]))
    _log(connection, audit_log.BASELINE_CLEARED, row, now, **audit_log.who(user))


def _log(connection: Connection, action: str, row: RowMapping, now: str, **details: Any) -> None:
    series = {"playbook_logic_hash": as_logged(row["playbook_hash"]), "subject": as_logged(row["subject"])}
    report_hash = as_logged(row["report_hash"])
    audit_entries.append(connection, audit_log.content(action, row["id"], report_hash, at=now, **series, **details))


def list_saved(connection: Connection) -> list[BaselineRecord]:
    """Return the saved baselines, the newest first."""
    query = select_fields(BaselineRecord).where(IS_BASELINE)
    newest_first = query.order_by(baselines.c.saved_at.desc(), evaluations.c.id.desc())
    return [make_record(BaselineRecord, row) for row in connection.execute(newest_first).mappings()]


def find_for_series(
    connection: Connection, playbook_hash: str, subject: str, before: str | None, title: str | None = None
) -> str | None:
    """Return the id of the newest saved baseline of the series, or else of its newest full and complete report."""
    # Only the id: sorting whole rows would read the texts of every evaluation of the series.
    query = (
        select(evaluations.c.id)
        .select_from(evaluations.outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id))
        .where(
            evaluations.c.playbook_hash == playbook_hash,
            evaluations.c.subject == as_name(subject),
            evaluations.c.state == State.DONE,
            evaluations.c.mode == Mode.FULL,
            evaluations.c.incomplete.is_(False),
        )
        .order_by(baselines.c.saved_at.is_not(None).desc(), baselines.c.saved_at.desc(), evaluations.c.id.desc())
        .limit(1)
    )
    if before is not None:
        query = query.where(evaluations.c.id < before)
    if title is not None:
        is_titled = and_(documents.c.evaluation_id == evaluations.c.id, documents.c.title == as_name(title))
        query = query.where(exists(documents.c.evaluation_id).where(is_titled))
    return connection.scalar(query)
