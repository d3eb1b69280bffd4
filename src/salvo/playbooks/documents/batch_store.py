"""Batches of documents: which evaluations were started together, and what came of each.

A batch has a name and the files that could not be read. Its evaluations have its id in `group_id`. The audit log has
every step. The row may be deleted, and every report stays what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, func, insert, select, update

from salvo.engine.jsonio import json_codec
from salvo.errors import AmbiguousIdError, DamagedEvaluationError, UnknownIdError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.documents.matrix import (
    UNTITLED,
    DocumentBatch,
    DocumentMatrix,
    DocumentRow,
    UnreadDocument,
    ordered_by_title,
    without_replaced,
)
from salvo.playbooks.enums import Result, Status, shown_status
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.validate import stored_playbook
from salvo.playbooks.store.column_text import as_name, as_text
from salvo.playbooks.store.damage import PARSE_ERRORS, check_columns, check_type, damaged_evaluation, damaged_row
from salvo.playbooks.store.database import OwnerStore
from salvo.playbooks.store.queueing import leases
from salvo.playbooks.store.records import RawRow, State
from salvo.playbooks.store.rows import audit_entries, raw_rows
from salvo.playbooks.store.rows.evaluations import ERROR_KEY, IDENTITY_KEY
from salvo.playbooks.store.tables import batches, evaluations, playbooks, votes
from salvo.records import record

_ROW = evaluations.c
_MEMBER_COLUMNS = (
    _ROW.id,
    _ROW.evaluator,
    _ROW.state,
    _ROW.status,
    _ROW.incomplete,
    _ROW.outcomes,
    _ROW.runs,
    _ROW.playbook_hash,
    _ROW.created_at,
    _ROW.finished_at,
    _ROW.inputs_fingerprint,
    _ROW.request,
    _ROW.owner,
    _ROW.lease_until,
    _ROW.began_at,
    _ROW.requirement,
)
_LIST_HINT = "`byop batch` lists the batches of documents."
_AFTER_EVERY_ID = "\x7f"


@record
class BatchEntry:
    """A batch in a list."""

    id: str
    created_at: str
    title: str
    subject: str
    planned: int
    unread: int
    reports: int
    open: int
    """Evaluations that run or wait."""


@record
class BatchList:
    entries: list[BatchEntry]
    """The newest first."""
    total: int


class DocumentBatches(OwnerStore):
    def create(self, batch: DocumentBatch) -> None:
        values = {
            "id": batch.id,
            "created_at": batch.created_at,
            "title": as_name(batch.title),
            "subject": as_name(batch.subject),
            "planned": batch.planned,
            "unread": as_text([asdict(document) for document in batch.unread]),
        }
        with self._database.writing(alone=True) as connection:
            connection.execute(insert(batches).values(values))
            self._log(connection, audit_log.DOCUMENT_BATCH, audit_log.hash_long_columns(values))

    def add_unread(self, batch_id: str, document: UnreadDocument) -> None:
        """Record a file that could not be read. A file with the same name is recorded once."""
        with self._database.writing(alone=True) as connection:
            row = _get(connection, batch_id, for_update=True)
            batch = _batch(row)
            others = [unread for unread in batch.unread if unread.file_name != document.file_name]
            documents = as_text([asdict(unread) for unread in (*others, document)])
            connection.execute(update(batches).where(batches.c.id == batch_id).values(unread=documents))
            columns = audit_log.hash_long_columns({**row, "unread": documents})
            self._log(connection, audit_log.DOCUMENT_BATCH, columns)

    def delete(self, batch_id: str) -> None:
        """Delete the row of the batch: its name, and the names of the files that could not be read."""
        with self._database.writing(alone=True) as connection:
            if connection.execute(delete(batches).where(batches.c.id == batch_id)).rowcount:
                self._log(connection, audit_log.DOCUMENT_BATCH_DELETED, {"id": batch_id})
        self._database.forget()

    def _log(self, connection: Connection, action: str, columns: Mapping[str, Any]) -> None:
        at = self._now()
        audit_entries.append(connection, {"action": action, "at": at, "document_batch": columns})

    def delete_empty(self, before: datetime) -> int:
        """Delete the batches of an earlier time that have no evaluation any more, and return their number."""
        members = select(_ROW.id).where(_ROW.group_id == batches.c.id).exists()
        query = select(batches.c.id).where(batches.c.created_at < leases.as_stored(before), ~members)
        with self._database.reading() as connection:
            ids = list(connection.scalars(query))
        for batch_id in ids:
            self.delete(batch_id)
        return len(ids)

    def raw_rows(self) -> list[RawRow]:
        """Return the rows of all batches, for verification."""
        with self._database.reading() as connection:
            return raw_rows.list_batches(connection)

    def check(self, batch_id: str) -> None:
        """Raise UnknownIdError if there is no such batch."""
        with self._database.reading() as connection:
            _get(connection, batch_id)

    def exists(self, batch_id: str) -> bool:
        with self._database.reading() as connection:
            return connection.scalar(select(batches.c.id).where(batches.c.id == batch_id)) is not None

    def find(self, text: str) -> str | None:
        """Return the id of the one batch whose id starts with the text; None if there is none."""
        start = as_name(text)
        is_match = and_(batches.c.id >= start, batches.c.id < start + _AFTER_EVERY_ID)
        with self._database.reading() as connection:
            matching = list(connection.scalars(select(batches.c.id).where(is_match).order_by(batches.c.id.desc())))
        if text in matching or len(matching) == 1:
            return text if text in matching else matching[0]
        if matching and text:
            raise AmbiguousIdError(
                f"{len(matching)} batches have an id that begins with {text!r}.", hint=f"The newest is {matching[0]}."
            )
        return None

    def latest(self) -> str | None:
        """Return the id of the newest batch."""
        with self._database.reading() as connection:
            newest: Any = connection.scalar(select(func.max(batches.c.id)))
        if newest is not None and not isinstance(newest, str):
            raise damaged_row("batch of documents", newest, "its id is no text")
        return newest

    def page(self, *, limit: int, offset: int = 0) -> BatchList:
        """Return the batches, the newest first."""
        newest_first = select(batches).order_by(batches.c.id.desc()).limit(limit).offset(offset)
        with self._database.reading() as connection:
            total = connection.scalar(select(func.count()).select_from(batches)) or 0
            rows = [_batch(row) for row in connection.execute(newest_first).mappings()]
            counts = _state_counts(connection, [batch.id for batch in rows])
        entries = [
            BatchEntry(
                id=batch.id,
                created_at=batch.created_at,
                title=batch.title,
                subject=batch.subject,
                planned=batch.planned,
                unread=len(batch.unread),
                reports=counts.get((batch.id, State.DONE), 0),
                open=counts.get((batch.id, State.RUNNING), 0),
            )
            for batch in rows
        ]
        return BatchList(entries, total)

    def members(self, batch_id: str) -> list[str]:
        """Return the ids of the batch's evaluations, in the order in which they were started."""
        with self._database.reading() as connection:
            _get(connection, batch_id)
            query = select(_ROW.id).where(_ROW.group_id == batch_id).order_by(_ROW.id)
            return list(connection.scalars(query))

    def matrix(self, batch_id: str) -> DocumentMatrix:
        """Return the documents with the results of their checks so far. UnknownIdError if there is no such batch."""
        with self._database.reading() as connection:
            batch = _batch(_get(connection, batch_id))
            query = select(*_MEMBER_COLUMNS).where(_ROW.group_id == batch_id).order_by(_ROW.id)
            rows = list(connection.execute(query).mappings())
            used = _playbooks(connection, {row["playbook_hash"] for row in rows})
            answered = _answered(connection, batch_id)
        now = self._clock.now()
        documents = []
        for row in rows:
            playbook = used.get(row["playbook_hash"])
            if playbook is None:
                raise damaged_evaluation(row["id"], "its playbook is missing")
            state = leases.actual_state(_state(row), dict(row), now, own=self._owner)
            documents.append(_document_row(row, state, answered.get(row["id"], 0), playbook))
        return DocumentMatrix.judged_by(list(used.values()), batch, ordered_by_title(without_replaced(documents)))


def _get(connection: Connection, batch_id: str, *, for_update: bool = False) -> RowMapping:
    query = select(batches).where(batches.c.id == as_name(batch_id))
    row = connection.execute(query.with_for_update() if for_update else query).mappings().one_or_none()
    if row is None:
        raise UnknownIdError(f"There is no batch of documents {batch_id}.", hint=_LIST_HINT)
    return row


def _batch(row: RowMapping) -> DocumentBatch:
    try:
        check_columns(dict(row), dict(batches.c))
        unread = tuple(map(_unread, json_codec.loads(row["unread"])))
    except PARSE_ERRORS as error:
        raise damaged_row("batch of documents", row["id"], error) from error
    return DocumentBatch(row["id"], row["created_at"], row["title"], row["subject"], row["planned"], unread)


def _unread(document: Any) -> UnreadDocument:
    return UnreadDocument(**{name: check_type(name, value, str) for name, value in document.items()})


def _state_counts(connection: Connection, batch_ids: Sequence[str]) -> dict[tuple[str, str], int]:
    query = (
        select(_ROW.group_id, _ROW.state, func.count())
        .where(_ROW.group_id.in_(batch_ids))
        .group_by(_ROW.group_id, _ROW.state)
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(query)}


def _playbooks(connection: Connection, hashes: Collection[str]) -> dict[str, Playbook]:
    query = select(playbooks.c.logic_hash, playbooks.c.document).where(playbooks.c.logic_hash.in_(sorted(hashes)))
    return {row.logic_hash: _playbook(row.logic_hash, row.document) for row in connection.execute(query)}


def _playbook(logic_hash: str, document: Any) -> Playbook:
    try:
        return stored_playbook(json_codec.loads(document))
    except PARSE_ERRORS as error:
        raise damaged_row("playbook", logic_hash, error) from error


def _answered(connection: Connection, batch_id: str) -> dict[str, int]:
    """Return the numbers of valid votes, by the id of the evaluation."""
    query = (
        select(votes.c.evaluation_id, func.count())
        .join(evaluations, evaluations.c.id == votes.c.evaluation_id)
        .where(_ROW.group_id == batch_id, votes.c.valid.is_(True))
        .group_by(votes.c.evaluation_id)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _state(row: RowMapping) -> State:
    try:
        return State(row["state"])
    except ValueError as error:
        raise damaged_evaluation(row["id"], error) from error


def _document_row(row: RowMapping, state: State, answered: int, playbook: Playbook) -> DocumentRow:
    try:
        check_columns(dict(row), dict(_ROW))
        request: Mapping[str, Any] = check_type("request", json_codec.loads(row["request"]), dict)
        identity = check_type("document_identity", request.get(IDENTITY_KEY) or {}, dict)
        outcomes = {} if row["outcomes"] is None else check_type("outcomes", json_codec.loads(row["outcomes"]), dict)
        status = None if row["status"] is None else shown_status(Status(row["status"]), incomplete=row["incomplete"])
        file_name = identity.get("file_name")
        return DocumentRow(
            evaluation_id=row["id"],
            title=identity.get("title") or file_name or UNTITLED,
            file_name=file_name,
            evaluator=check_type("evaluator", request.get("evaluator"), str),
            state=state,
            status=status,
            outcomes={check_id: Result(result) for check_id, result in outcomes.items()},
            answered=answered,
            questions=len(playbook.judged_checks) * row["runs"],
            created_at=row["created_at"],
            finished_at=row["finished_at"],
            problem=request[ERROR_KEY]["message"] if state is State.FAILED else "",
            inputs_fingerprint=row["inputs_fingerprint"],
            requirement=row["requirement"],
        )
    except DamagedEvaluationError:
        raise
    except PARSE_ERRORS as error:
        raise damaged_evaluation(row["id"], error) from error
