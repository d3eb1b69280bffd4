"""Read the database of playbook evaluations: find, load and list what is stored. `EvaluationStore` adds the changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, desc, func, select

from salvo.errors import AmbiguousIdError, DamagedEvaluationError, UnknownIdError
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import HeadSignature
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.store import history, retention, tables
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.damage import as_logged, damaged_evaluation
from salvo.playbooks.store.database import OwnerStore
from salvo.playbooks.store.history import EVERY_EVALUATION, HistoryFilters, HistorySort
from salvo.playbooks.store.queueing import leases
from salvo.playbooks.store.queueing.queue import LEASE_COLUMNS
from salvo.playbooks.store.records import (
    RUN_HINT,
    BaselineRecord,
    DamagedEvaluation,
    EvaluationList,
    HistoryRow,
    RawEvaluation,
    RawRow,
    RawRows,
    RawVote,
    State,
    StoredEvaluation,
    TimelinePoint,
    UsedPlaybook,
)
from salvo.playbooks.store.retention import OldEvaluation
from salvo.playbooks.store.rows import audit_entries, baselines, head_signatures, raw_rows, same_text, text_words, votes
from salvo.playbooks.store.rows import evaluations as rows
from salvo.playbooks.store.rows.audit_entries import AuditFilter, AuditPage
from salvo.playbooks.store.tables import evaluations

LATEST = "latest"
_MAX_SUGGESTIONS = 5
_SEARCHED = 1000
"""The number of ids among which a misspelt one is searched."""
_AFTER_EVERY_ID = "\x7f"


class EvaluationReader(OwnerStore):
    def find(self, text: str) -> str:
        """Return the id of the one evaluation whose id starts with the text, or of the newest for "latest"."""
        newest_first = select(evaluations.c.id).order_by(evaluations.c.id.desc())
        with self._database.reading() as connection:
            if text == LATEST:
                matching = _texts(connection.scalars(newest_first.limit(_SEARCHED)))[:1]
            else:
                # Not LIKE: SQLite's ignores case, and PostgreSQL's does not use the index.
                start = as_name(text)
                is_match = and_(evaluations.c.id >= start, evaluations.c.id < start + _AFTER_EVERY_ID)
                matching = _texts(connection.scalars(newest_first.where(is_match))) if text else []
            ids = [] if matching else _texts(connection.scalars(newest_first.limit(_SEARCHED)))
        if text in matching or len(matching) == 1:
            return text if text in matching else matching[0]
        if matching:
            raise AmbiguousIdError(
                f"{len(matching)} of the stored ids begin with {text!r}.", hint=f"Which one? {_id_list(matching)}"
            )
        if not ids:
            raise nothing_stored(self._database.name_in_errors)
        similar = get_close_matches(text, ids, _MAX_SUGGESTIONS) or ids[:_MAX_SUGGESTIONS]
        raise UnknownIdError(
            f"No evaluation has an id that begins with {text!r}.", hint=f"The nearest: {_id_list(similar)}"
        )

    def load(self, evaluation_id: str) -> StoredEvaluation:
        with self._database.reading() as connection:
            return self._parse(rows.get_row(connection, evaluation_id))

    def load_raw(self, evaluation_id: str) -> RawEvaluation | None:
        """Return the columns unparsed, for verification; None if there is no such evaluation."""
        with self._database.reading() as connection:
            row = rows.find_row(connection, evaluation_id)
            if row is None:
                return None
            in_order = select(tables.votes).order_by(tables.votes.c.sequence)
            vote_rows = connection.execute(in_order.where(tables.votes.c.evaluation_id == evaluation_id)).mappings()
            raw_votes = tuple(RawVote(**rows.raw_fields(RawVote, vote)) for vote in vote_rows)
            return RawEvaluation(votes=raw_votes, **rows.raw_fields(RawEvaluation, row))

    def raw_rows(self, evaluation_id: str) -> RawRows:
        """Return every row about an evaluation, for verification."""
        with self._database.reading() as connection:
            return raw_rows.load(connection, evaluation_id)

    def raw_playbooks(self) -> list[RawRow]:
        """Return the rows of all playbooks, for verification."""
        with self._database.reading() as connection:
            return raw_rows.list_playbooks(connection)

    def all_ids(self) -> list[str]:
        """Return the ids of all evaluations, the oldest first."""
        with self._database.reading() as connection:
            return raw_rows.list_ids(connection)

    def titles(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of the documents of those evaluations that are stored; "" for one without a title."""
        with_titles = evaluations.outerjoin(tables.documents, tables.documents.c.evaluation_id == evaluations.c.id)
        query = select(evaluations.c.id, tables.documents.c.title).select_from(with_titles)
        with self._database.reading() as connection:
            rows = connection.execute(query.where(evaluations.c.id.in_(set(ids)))).all()
        return {str(row.id): as_logged(row.title or "") for row in rows}

    def orphans(self) -> list[tuple[str, str]]:
        """Return the tables and ids of rows about evaluations that are not stored."""
        with self._database.reading() as connection:
            return raw_rows.list_orphans(connection)

    def history(
        self,
        filters: HistoryFilters = EVERY_EVALUATION,
        *,
        sort: HistorySort = HistorySort.DATE,
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> EvaluationList:
        """Return the evaluations, by default the newest first.

        Damaged evaluations count for the limit, and are named instead of listed.
        """
        with self._database.reading() as connection:
            rows_read, total = history.list_rows(
                connection,
                filters,
                sort,
                descending=descending,
                limit=None if limit is None else limit + 1,
                offset=offset,
            )
            page = rows_read if limit is None else rows_read[:limit]
            unindexed = text_words.waiting(connection) if filters.search and filters.in_texts else 0
            leased = self._running_states(connection) if any(row["state"] == State.RUNNING for row in page) else {}
        records, damaged = [], []
        for row in page:
            try:
                record = rows.make_record(HistoryRow, row)
                records.append(replace(record, state=leased.get(record.id, record.state)))
            except DamagedEvaluationError as error:
                damaged.append(DamagedEvaluation(error.evaluation_id, str(error)))
        return EvaluationList(records, damaged, more=len(rows_read) > len(page), total=total, unindexed=unindexed)

    def _running_states(self, connection: Connection) -> dict[str, State]:
        """Return the actual states of all evaluations that are stored as running, which an index has."""
        query = select(*LEASE_COLUMNS).where(tables.IS_RUNNING)
        now = self._clock.now()
        return {
            row["id"]: leases.actual_state(State.RUNNING, dict(row), now, own=self._owner)
            for row in connection.execute(query).mappings()
        }

    def timeline(self, subject: str, playbook_hash: str | None = None) -> list[TimelinePoint]:
        """Return every report on a subject, the oldest first; with all playbooks, or with one.

        DamagedEvaluationError names a report that cannot be shown.
        """
        reports = rows.select_fields(TimelinePoint).where(evaluations.c.state == State.DONE)
        query = reports.where(evaluations.c.subject == as_name(subject)).order_by(evaluations.c.id)
        if playbook_hash is not None:
            query = query.where(evaluations.c.playbook_hash == playbook_hash)
        with self._database.reading() as connection:
            return [rows.timeline_point(row) for row in connection.execute(query).mappings()]

    def playbooks(self, *, limit: int) -> list[UsedPlaybook]:
        """Return the playbooks that were used, the last used first, without damaged ones."""
        query = rows.used_playbooks_query().order_by(desc("used_by")).limit(limit)
        with self._database.reading() as connection:
            rows_read = list(connection.execute(query).mappings())
        used = []
        for row in rows_read:
            with suppress(DamagedEvaluationError):  # `byop verify --all` names it
                used.append(rows.used_playbook(row))
        return used

    def playbook(self, logic_hash: str) -> UsedPlaybook | None:
        query = rows.used_playbooks_query().where(tables.playbooks.c.logic_hash == as_name(logic_hash))
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else rows.used_playbook(row)

    def same_text(self, evaluation_id: str) -> list[str]:
        """Return the ids of all reports on the text of an evaluation that were made with it or again, oldest first."""
        with self._database.reading() as connection:
            return same_text.list_ids(connection, rows.get_row(connection, evaluation_id))

    def subjects(self) -> list[tuple[str, int]]:
        """Return every subject with a report and the number of its reports; the one with the newest report first."""
        query = (
            select(evaluations.c.subject, func.count())
            .where(evaluations.c.state == State.DONE)
            .group_by(evaluations.c.subject)
            .order_by(func.max(evaluations.c.id).desc())
        )
        with self._database.reading() as connection:
            return [(subject, reports) for subject, reports in connection.execute(query) if isinstance(subject, str)]

    def started_before(self, moment: datetime) -> list[OldEvaluation]:
        """Return the evaluations that were started before this time, the oldest first."""
        with self._database.reading() as connection:
            return retention.list_before(connection, leases.as_stored(moment), self._state)

    def batched(self) -> list[str]:
        """Return the ids of the evaluations that wait for a provider's batch, oldest first."""
        with self._database.reading() as connection:
            query = select(evaluations.c.id).where(evaluations.c.state == State.BATCHED).order_by(evaluations.c.id)
            return _texts(connection.scalars(query))

    def votes(self, evaluation_id: str, after: int = 0) -> list[tuple[int, Vote]]:
        """Return the votes with a higher number than `after`, in order of arrival."""
        with self._database.reading() as connection:
            return votes.list_votes(connection, evaluation_id, after)

    def baselines(self) -> list[BaselineRecord]:
        """Return the saved baselines, the newest first."""
        with self._database.reading() as connection:
            return baselines.list_saved(connection)

    def baseline_for(
        self, playbook_hash: str, subject: str, before: str | None = None, title: str | None = None
    ) -> StoredEvaluation | None:
        """Return what to compare with: the newest saved baseline, or else the newest full and complete report.

        `before` excludes that evaluation and later ones. With a title, only reports of documents that are called so
        are considered. A screening is never used.
        """
        with self._database.reading() as connection:
            evaluation_id = baselines.find_for_series(connection, playbook_hash, subject, before, title)
            return None if evaluation_id is None else self._parse(rows.get_row(connection, evaluation_id))

    def audit_log(self, evaluation_id: str | None = None) -> list[AuditEntry]:
        """Return the entries, the oldest first: all of them, or those about one evaluation."""
        with self._database.reading() as connection:
            return audit_entries.list_entries(connection, evaluation_id)

    def audit_page(self, filters: AuditFilter, *, limit: int, offset: int) -> AuditPage:
        """Return some of the entries that match, the newest first."""
        with self._database.reading() as connection:
            return audit_entries.list_page(connection, filters, limit=limit, offset=offset)

    def head_signatures(self, sequences: Collection[int] | None = None) -> list[HeadSignature]:
        """Return the signatures over entries of the audit log: all of them, or those of these entries."""
        with self._database.reading() as connection:
            return head_signatures.list_signatures(connection, sequences)

    def _state(self, row: RowMapping) -> State:
        """Return the actual state, which depends on the lease of an evaluation that is stored as running."""
        try:
            state = State(row["state"])
        except ValueError as error:
            raise damaged_evaluation(row["id"], error) from error
        return leases.actual_state(state, dict(row), self._clock.now(), own=self._owner)

    def _is_held(self, row: RowMapping) -> bool:
        """Return whether somebody has a lease on a running evaluation."""
        owner = row["owner"]
        return owner == self._owner or (
            owner != leases.NOBODY and not leases.is_abandoned(owner, row["lease_until"], self._clock.now())
        )

    def _parse(self, row: RowMapping) -> StoredEvaluation:
        return rows.stored_evaluation(row, self._state(row))


def nothing_stored(place: str) -> UnknownIdError:
    return UnknownIdError(f"No evaluation is stored in {place} yet.", hint=RUN_HINT)


def _texts(values: Iterable[Any]) -> list[str]:
    """Return the values without binary data, which only a damaged row has."""
    return [value for value in values if isinstance(value, str)]


def _id_list(ids: Sequence[str]) -> str:
    more = len(ids) - _MAX_SUGGESTIONS
    return ", ".join(ids[:_MAX_SUGGESTIONS]) + (f" and {more} more." if more > 0 else ".")
