"""The rows of evaluations and their playbooks: queries, and the records that are made from rows.

A query selects only what its record needs, because the texts of an evaluation can be long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    or_,
    select,
)
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from salvo.engine.jsonio import json_codec
from salvo.errors import LeaseLostError, UnknownIdError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.enums import Mode, Result, ShownStatus, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.report import DocumentIdentity
from salvo.playbooks.store.column_text import as_name, as_text, parse_report
from salvo.playbooks.store.damage import PARSE_ERRORS, as_logged, check_columns, check_type, damaged_evaluation
from salvo.playbooks.store.records import ErrorDetail, State, StoredEvaluation, TimelinePoint, UsedPlaybook
from salvo.playbooks.store.rows import text_words
from salvo.playbooks.store.tables import NOT_EVIDENCE, baselines, documents, evaluations, playbooks

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from salvo.playbooks.evaluate.request import EvaluationRequest
    from salvo.playbooks.playbook.definition import Playbook

Record = TypeVar("Record", bound="DataclassInstance")

ERROR_KEY = "fault"
"""The key of the stored error in the column `request`."""
BATCH_KEY = "batch"
"""The key of the batch of questions there."""
IDENTITY_KEY = "document_identity"

_JOINED = (
    evaluations.outerjoin(playbooks)
    .outerjoin(baselines, baselines.c.evaluation_id == evaluations.c.id)
    .outerjoin(documents, documents.c.evaluation_id == evaluations.c.id)
)
# Databases of earlier versions may have several baselines of one series. The newest is the one that is used.
_newer = baselines.alias("newer")
IS_BASELINE = and_(
    baselines.c.evaluation_id.is_not(None),
    ~exists(_newer.c.evaluation_id).where(
        _newer.c.playbook_hash == baselines.c.playbook_hash,
        _newer.c.subject == baselines.c.subject,
        or_(
            _newer.c.saved_at > baselines.c.saved_at,
            and_(_newer.c.saved_at == baselines.c.saved_at, _newer.c.evaluation_id > baselines.c.evaluation_id),
        ),
    ),
)
SHOWN_STATUS = case((evaluations.c.incomplete.is_(True), str(ShownStatus.INCOMPLETE)), else_=evaluations.c.status)
_COLUMNS: dict[str, ColumnElement[Any]] = {
    **dict(evaluations.c),
    "group": evaluations.c.group_id.label("group"),
    "playbook_id": func.coalesce(playbooks.c.id, "").label("playbook_id"),
    "playbook_version": func.coalesce(playbooks.c.version, "").label("playbook_version"),
    "baseline": IS_BASELINE.label("baseline"),
    "evaluation_id": evaluations.c.id.label("evaluation_id"),
    "evaluated_at": evaluations.c.created_at.label("evaluated_at"),
    "title": documents.c.title,
    "saved_at": baselines.c.saved_at,
    "baseline_since": baselines.c.saved_at,
}
"""By the name of the field that holds it."""
_ENUMS: dict[str, type[StrEnum]] = {"state": State, "mode": Mode, "status": Status}
_REQUEST_FIELDS: dict[str, tuple[type, ...]] = {
    "subject": (str,),
    "evaluator": (str,),
    "producer": (str, NoneType),
    "settings": (dict,),
    "raw_hashes": (dict,),
    BATCH_KEY: (dict, NoneType),
}
"""The keys of the column `request` with their types. Its names are complete; those in columns may be shortened."""
_LIST_HINT = "`byop history` lists the stored evaluations."

# Built once, because building a statement costs as much as running it.
_LOCK_OPEN = (
    select(
        evaluations.c.id,
        evaluations.c.state,
        evaluations.c.owner,
        evaluations.c.lease_until,
        evaluations.c.began_at,
        evaluations.c.requirement,
        evaluations.c.stored_in_full,
    )
    .where(evaluations.c.id == bindparam("evaluation_id"))
    .with_for_update()
)


def insert_evaluation(
    connection: Connection, request: EvaluationRequest, *, settings: Mapping[str, Any], in_full: bool, **columns: Any
) -> dict[str, Any]:
    """Store a new evaluation, and return what the audit log records of its row and of a new row of its playbook."""
    inputs = request.inputs
    names = {"subject": request.subject, "evaluator": request.evaluator, "producer": request.producer}
    identity = request.document_identity
    described = {} if identity is None else {IDENTITY_KEY: asdict(identity)}
    playbook = _save_playbook(connection, request.playbook)
    values = {
        "id": request.report_id,
        "state": str(State.RUNNING),
        "subject": as_name(request.subject),
        "mode": str(request.mode),
        "runs": request.runs,
        "evaluator": as_name(request.evaluator),
        "playbook_hash": request.playbook.logic_hash,
        "inputs_fingerprint": inputs.fingerprint,
        "stored_in_full": in_full,
        "request": as_text({**names, **described, "settings": dict(settings), "raw_hashes": inputs.raw_hashes or {}}),
        "inputs": as_text(inputs.document) if in_full else None,
        **columns,
    }
    connection.execute(insert(evaluations).values(values))
    if in_full:
        text_words.add(connection, request.report_id, inputs.texts)
    unset = dict.fromkeys(column.name for column in evaluations.c if column.name not in values)
    coordination = NOT_EVIDENCE[evaluations.name]
    evidence = {name: value for name, value in {**unset, **values}.items() if name not in coordination}
    logged: dict[str, Any] = {"columns": audit_log.hash_long_columns(evidence)}
    if identity is not None and identity.title is not None:
        document = {"evaluation_id": request.report_id, "title": as_name(identity.title)}
        connection.execute(insert(documents).values(document))
        logged["document"] = audit_log.hash_long_columns(document)
    return logged if playbook is None else {**logged, "playbook": audit_log.hash_long_columns(playbook)}


def _save_playbook(connection: Connection, playbook: Playbook) -> dict[str, Any] | None:
    """Store the playbook, and return its row; None if one with the same hash is stored already."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as dialect_insert  # slow to import, and rarely used
    else:
        dialect_insert = sqlite_insert  # type: ignore[assignment]  # same interface
    values = {
        "logic_hash": playbook.logic_hash,
        "id": as_name(playbook.id),
        "version": as_name(playbook.version),
        "document": as_text(playbook.document),
    }
    insertion = dialect_insert(playbooks).values(values).on_conflict_do_nothing().returning(playbooks.c.logic_hash)
    return values if connection.scalar(insertion) is not None else None


def request_with(connection: Connection, evaluation_id: str, values: Mapping[str, Any]) -> str:
    """Return the column `request` of an evaluation with these values in it."""
    query = select(evaluations.c.request).where(evaluations.c.id == evaluation_id)
    try:
        return as_text({**json_codec.loads(connection.execute(query).scalar_one()), **values})
    except PARSE_ERRORS as damage:
        raise damaged_evaluation(evaluation_id, damage) from damage


def lock_open_evaluation(connection: Connection, evaluation_id: str, *, owner: str | None = None) -> RowMapping:
    """Return the row of an evaluation without a report, locked until the end of the transaction.

    Raise LeaseLostError if an owner is given and it is not the evaluation's: what it has was asked for by another one.
    """
    row = connection.execute(_LOCK_OPEN, {"evaluation_id": evaluation_id}).mappings().one_or_none()
    if row is None:
        raise _unknown_id(evaluation_id)
    if owner is not None and row["owner"] != owner:
        raise LeaseLostError(
            f"Another process runs the evaluation {evaluation_id} now, so nothing was stored here.",
            hint="This process was paused or cut off from the database for too long. `byop show` has the result.",
        )
    if row["state"] == State.DONE:
        raise UsageError(f"The evaluation {evaluation_id} is done, and its report can no longer be changed.")
    return row


def find_row(connection: Connection, evaluation_id: str) -> RowMapping | None:
    """Return everything that is stored of one evaluation, including its texts."""
    more = (
        _COLUMNS["group"],
        playbooks.c.document.label("playbook"),
        case((IS_BASELINE, baselines.c.saved_at)).label("baseline_since"),
    )
    query = select(evaluations, *more).select_from(_JOINED).where(evaluations.c.id == as_name(evaluation_id))
    return connection.execute(query).mappings().one_or_none()


def get_row(connection: Connection, evaluation_id: str) -> RowMapping:
    """Return the same; UnknownIdError if there is none."""
    row = find_row(connection, evaluation_id)
    if row is None:
        raise _unknown_id(evaluation_id)
    return row


def _unknown_id(evaluation_id: str) -> UnknownIdError:
    return UnknownIdError(f"There is no evaluation {evaluation_id}.", hint=_LIST_HINT)


def select_fields(record: type[Record]) -> Select[Any]:
    """Return a query for the columns that the record needs."""
    return select(*(_COLUMNS[part.name] for part in fields(record))).select_from(_JOINED)


def make_record(record: type[Record], row: RowMapping, **parsed: Any) -> Record:
    """Return the record of a row; `parsed` replaces columns that are text. DamagedEvaluationError if it has none."""
    values = {part.name: row[part.name] for part in fields(record) if part.name in row}
    try:
        check_columns(values, _COLUMNS)
        for part in fields(record):
            if part.name in values and values[part.name] is None and not str(part.type).endswith("None"):
                raise ValueError(f"{part.name} is missing")
        enums = {name: enum(values[name]) for name, enum in _ENUMS.items() if values.get(name) is not None}
    except ValueError as error:
        raise damaged_evaluation(row.get("id", row.get("evaluation_id")), error) from error
    return record(**{**values, **enums, **parsed})


def raw_fields(record: type[Record], row: RowMapping) -> dict[str, Any]:
    """Return the fields of a record that verification reads, which must be able to read altered content."""
    return {part.name: as_logged(row[part.name]) for part in fields(record) if part.name in row}


def check_evaluation(row: RowMapping) -> None:
    """Raise DamagedEvaluationError if a column of the row has a value of another type."""
    try:
        check_columns(dict(row), _COLUMNS)
    except ValueError as error:
        raise damaged_evaluation(row["id"], error) from error


def stored_evaluation(row: RowMapping, state: State) -> StoredEvaluation:
    """Return everything that is stored of an evaluation. DamagedEvaluationError says what cannot be parsed."""
    try:
        check_columns(dict(row), _COLUMNS)
        request = check_type("request", json_codec.loads(row["request"]), dict)
        return make_record(
            StoredEvaluation,
            row,
            **{name: check_type(name, request.get(name), *kinds) for name, kinds in _REQUEST_FIELDS.items()},
            document_identity=_parse_identity(request.get(IDENTITY_KEY)),
            state=state,
            playbook=check_type("playbook", json_codec.loads(check_type("playbook", row["playbook"], str)), dict),
            inputs=None if row["inputs"] is None else _parse_inputs(row["inputs"]),
            report=None if row["report"] is None else parse_report(row["report"], "its report"),
            error=_parse_error(request.get(ERROR_KEY)) if state is State.FAILED else None,
        )
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error


def _parse_inputs(text: str) -> Inputs:
    document = check_type("inputs", json_codec.loads(text), dict)
    check_type("ai_output", document.get("ai_output"), str)
    for name in ("source_document", "prompt", "system_instructions"):
        check_type(name, document.get(name), str, NoneType)
    check_type("raw_hashes", document.get("raw_hashes"), dict, NoneType)
    for notice in check_type("notices", document.get("notices"), list, NoneType) or ():
        check_type("notices", notice, str)
    for row in check_type("outline", document.get("outline"), list, NoneType) or ():
        check_type("outline", row, list)
    return Inputs.from_stored(document)


def _parse_identity(document: Any) -> DocumentIdentity | None:
    values = check_type(IDENTITY_KEY, document, dict, NoneType)
    if values is None:
        return None
    names = ("title", "file_name", "file_sha256", "reviewer")
    texts = {name: check_type(name, values.get(name), str, NoneType) for name in names}
    return DocumentIdentity(
        **texts,
        pages=check_type("pages", values.get("pages"), int, NoneType),
        reviewer_authenticated=check_type("reviewer_authenticated", values.get("reviewer_authenticated", False), bool),
    )


def _parse_error(document: Any) -> ErrorDetail:
    values = check_type("fault", document, dict)
    return ErrorDetail(**{name: check_type(name, values.get(name), str) for name in ("code", "message", "hint")})


def timeline_point(row: RowMapping) -> TimelinePoint:
    try:
        outcomes = check_type("outcomes", json_codec.loads(check_type("outcomes", row["outcomes"], str)), dict)
        results = {check_id: Result(result) for check_id, result in outcomes.items()}
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error
    return make_record(TimelinePoint, row, outcomes=results)


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
    """DamagedEvaluationError names the newest of the evaluations that used it."""
    try:
        check_type("playbook_hash", row["logic_hash"], str)
        document = check_type("playbook", json_codec.loads(check_type("playbook", row["document"], str)), dict)
        return UsedPlaybook(row["logic_hash"], document, check_type("id", row["used_by"], str))
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["used_by"], error) from error
