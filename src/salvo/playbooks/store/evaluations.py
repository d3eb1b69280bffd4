"""The rows of evaluations and their playbooks: queries, and the records that are made from rows.

A query selects only what its record needs, because the texts of an evaluation can be long.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, bindparam, func, insert, or_, select

from salvo.engine.jsonio import json_codec
from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.store.columns import as_name, as_text, inputs_text, parse_inputs, parse_report
from salvo.playbooks.store.records import (
    ErrorDetail,
    HistoryRow,
    NewEvaluation,
    RawEvaluation,
    RawVote,
    State,
    StoredEvaluation,
    TimelinePoint,
    UsedPlaybook,
)
from salvo.playbooks.store.tables import baselines, evaluations, playbooks

ERROR_KEY = "fault"
"""The key of the stored error in the column `request`."""

JOINED = evaluations.join(playbooks).outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id)
_IS_BASELINE = baselines.c.evaluation_id.is_not(None).label("baseline")
_LIST_HINT = "`byop history` lists the stored evaluations."

# Built once, because building a statement costs as much as running it.
_LOCK_OPEN = (
    select(evaluations.c.state, evaluations.c.owner, evaluations.c.touched_at, evaluations.c.stored_in_full)
    .where(evaluations.c.id == bindparam("evaluation_id"))
    .with_for_update()
)


def insert_evaluation(connection: Connection, evaluation: NewEvaluation, *, now: str, owner: str) -> None:
    inputs = evaluation.inputs
    request = {
        "subject": evaluation.subject,
        "evaluator": evaluation.evaluator,
        "producer": evaluation.producer,
        "settings": dict(evaluation.settings),
        "raw_hashes": inputs.raw_hashes or {},
    }
    _save_playbook(connection, evaluation)
    connection.execute(
        insert(evaluations).values(
            id=evaluation.id,
            group_id=evaluation.group,
            created_at=now,
            touched_at=now,
            owner=owner,
            state=State.RUNNING,
            subject=as_name(evaluation.subject),
            mode=evaluation.mode,
            runs=evaluation.runs,
            evaluator=as_name(evaluation.evaluator),
            playbook_hash=evaluation.playbook.logic_hash,
            inputs_fingerprint=inputs.fingerprint,
            stored_in_full=evaluation.stored_in_full,
            request=as_text(request),
            inputs=inputs_text(inputs) if evaluation.stored_in_full else None,
        )
    )


def _save_playbook(connection: Connection, evaluation: NewEvaluation) -> None:
    """Store the playbook, unless one with the same hash is stored already."""
    # Only one dialect is needed, and each takes time to import.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as dialect_insert
    else:
        from sqlalchemy.dialects.sqlite import insert as dialect_insert  # type: ignore[assignment]  # same interface
    playbook = evaluation.playbook
    connection.execute(
        dialect_insert(playbooks)
        .values(
            logic_hash=playbook.logic_hash,
            id=as_name(playbook.id),
            version=as_name(playbook.version),
            document=as_text(playbook.document),
        )
        .on_conflict_do_nothing()
    )


def lock_open_evaluation(connection: Connection, evaluation_id: str) -> RowMapping:
    """Return the row of an evaluation without a report, locked until the end of the transaction."""
    row = connection.execute(_LOCK_OPEN, {"evaluation_id": evaluation_id}).mappings().one_or_none()
    if row is None:
        raise _unknown_id(evaluation_id)
    if row["state"] == State.DONE:
        raise UsageError(f"The evaluation {evaluation_id} is done, and its report can no longer be changed.")
    return row


def find_row(connection: Connection, evaluation_id: str) -> RowMapping | None:
    """Return everything that is stored of one evaluation, including its texts."""
    columns = (evaluations, playbooks.c.document.label("playbook"), baselines.c.saved_at)
    query = select(*columns).select_from(JOINED).where(evaluations.c.id == evaluation_id)
    return connection.execute(query).mappings().one_or_none()


def get_row(connection: Connection, evaluation_id: str) -> RowMapping:
    """Return the same; UnknownIdError if there is none."""
    row = find_row(connection, evaluation_id)
    if row is None:
        raise _unknown_id(evaluation_id)
    return row


def _unknown_id(evaluation_id: str) -> UnknownIdError:
    return UnknownIdError(f"There is no evaluation {evaluation_id}.", hint=_LIST_HINT)


def stored_evaluation(row: RowMapping, state: State) -> StoredEvaluation:
    request = json_codec.loads(row["request"])
    return StoredEvaluation(
        id=row["id"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        state=state,
        subject=request["subject"],
        mode=Mode(row["mode"]),
        runs=row["runs"],
        evaluator=request["evaluator"],
        producer=request["producer"],
        group=row["group_id"],
        settings=request["settings"],
        playbook_hash=row["playbook_hash"],
        playbook=json_codec.loads(row["playbook"]),
        inputs=None if row["inputs"] is None else parse_inputs(row["inputs"]),
        inputs_fingerprint=row["inputs_fingerprint"],
        raw_hashes=request["raw_hashes"],
        stored_in_full=row["stored_in_full"],
        report=None if row["report"] is None else parse_report(row["report"], f"The report {row['id']}"),
        baseline_since=row["saved_at"],
        error=ErrorDetail(**request[ERROR_KEY]) if state is State.FAILED else None,
    )


def raw_evaluation(row: RowMapping, vote_rows: Iterable[RowMapping]) -> RawEvaluation:
    votes = tuple(RawVote(**_fields(RawVote, vote)) for vote in vote_rows)
    return RawEvaluation(votes=votes, **_fields(RawEvaluation, row))


def history_query() -> Select[Any]:
    return select(
        evaluations.c.id,
        evaluations.c.created_at,
        evaluations.c.finished_at,
        evaluations.c.state,
        evaluations.c.owner,
        evaluations.c.touched_at,
        evaluations.c.subject,
        evaluations.c.mode,
        evaluations.c.runs,
        evaluations.c.evaluator,
        playbooks.c.id.label("playbook_id"),
        playbooks.c.version.label("playbook_version"),
        evaluations.c.playbook_hash,
        evaluations.c.status,
        evaluations.c.consistency,
        evaluations.c.incomplete,
        evaluations.c.stored_in_full,
        _IS_BASELINE,
        evaluations.c.group_id.label("group"),
    ).select_from(JOINED)


def matches_search(search: str) -> ColumnElement[bool]:
    """Return a condition for `history_query`: one of the names contains the text, in any case."""
    columns = (evaluations.c.id, evaluations.c.subject, evaluations.c.evaluator, evaluations.c.status, playbooks.c.id)
    return or_(*(column.icontains(as_name(search), autoescape=True) for column in columns))


def history_row(row: RowMapping, state: State) -> HistoryRow:
    status = row["status"]
    return HistoryRow(
        **{
            **_fields(HistoryRow, row),
            "state": state,
            "mode": Mode(row["mode"]),
            "status": None if status is None else Status(status),
        }
    )


def timeline_query() -> Select[Any]:
    return (
        select(
            evaluations.c.id,
            evaluations.c.created_at,
            evaluations.c.mode,
            evaluations.c.evaluator,
            evaluations.c.playbook_hash,
            evaluations.c.inputs_fingerprint,
            evaluations.c.status,
            evaluations.c.consistency,
            evaluations.c.incomplete,
            evaluations.c.outcomes,
            _IS_BASELINE,
        )
        .select_from(JOINED)
        .where(evaluations.c.state == State.DONE)
    )


def timeline_point(row: RowMapping) -> TimelinePoint:
    outcomes = {check_id: Result(result) for check_id, result in json_codec.loads(row["outcomes"]).items()}
    return TimelinePoint(**{**row, "mode": Mode(row["mode"]), "status": Status(row["status"]), "outcomes": outcomes})


def used_playbooks_query() -> Select[Any]:
    """Return a query for the playbooks, each with the newest evaluation that used it."""
    newest = (
        select(evaluations.c.playbook_hash, func.max(evaluations.c.id).label("used_by"))
        .group_by(evaluations.c.playbook_hash)
        .subquery()
    )
    return select(playbooks.c.logic_hash, playbooks.c.document, newest.c.used_by).join(
        newest, newest.c.playbook_hash == playbooks.c.logic_hash
    )


def used_playbook(row: RowMapping) -> UsedPlaybook:
    return UsedPlaybook(row["logic_hash"], json_codec.loads(row["document"]), row["used_by"])


def _fields(record: type, row: RowMapping) -> dict[str, Any]:
    return {name: row[name] for name in record.__slots__ if name in row}  # type: ignore[attr-defined]  # slots dataclasses
