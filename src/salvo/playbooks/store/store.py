"""The database of playbook evaluations. Threads and processes may use it at the same time.

What a method wrote is stored when it returns. An evaluation is stored before its first call, each vote as it arrives,
and the report together with its entry in the audit log, so a killed process loses at most the votes in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, RowMapping, and_, delete, desc, func, select

from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.clock import Clock
from salvo.errors import AmbiguousIdError, DamagedEvaluationError, UnknownIdError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import HeadSignature
from salvo.playbooks.audit.text_hashing import without_texts
from salvo.playbooks.documents.batch_store import DocumentBatches
from salvo.playbooks.enums import Mode, ShownStatus
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report, measured_consistency
from salvo.playbooks.review.events import ReviewEvent
from salvo.playbooks.review.labels import ReviewLabel
from salvo.playbooks.review.review_store import ReviewStore
from salvo.playbooks.store import history, retention, tables
from salvo.playbooks.store.column_text import as_name, as_text
from salvo.playbooks.store.damage import as_logged, damaged_evaluation
from salvo.playbooks.store.database import Database
from salvo.playbooks.store.history import HistoryFilters, HistorySort
from salvo.playbooks.store.location import TOUCH
from salvo.playbooks.store.queueing import leases, notifications, process_owner
from salvo.playbooks.store.queueing.leases import Submission
from salvo.playbooks.store.queueing.notifications import ChangeListener
from salvo.playbooks.store.queueing.queue import LEASE_COLUMNS, EvaluationQueue
from salvo.playbooks.store.records import (
    RUN_HINT,
    BaselineRecord,
    DamagedEvaluation,
    ErrorDetail,
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
from salvo.playbooks.store.rows import audit_entries, baselines, head_signatures, raw_rows, same_text, votes
from salvo.playbooks.store.rows import evaluations as rows
from salvo.playbooks.store.rows.audit_entries import AuditFilter, AuditPage
from salvo.playbooks.store.rows.state_changes import change_state, update_evaluation
from salvo.playbooks.store.saved_playbooks import SavedPlaybooks
from salvo.playbooks.store.share_links import ShareLinks
from salvo.playbooks.store.tables import evaluations

if TYPE_CHECKING:
    from salvo.playbooks.accounts.account_store import AccountStore
    from salvo.playbooks.audit.head_key import ReadKey
    from salvo.playbooks.evaluate.request import EvaluationRequest

LATEST = "latest"
_MAX_SUGGESTIONS = 5
_SEARCHED = 1000
"""The number of ids among which a misspelt one is searched."""
_AFTER_EVERY_ID = "\x7f"


class EvaluationStore:
    """Use `open` to make one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._owner = process_owner.new_owner()
        self.queue = EvaluationQueue(database, clock, self._owner)
        self.reviews = ReviewStore(database, clock)
        self.batches = DocumentBatches(database, clock, self._owner)
        self.saved_playbooks = SavedPlaybooks(database, clock)
        self.share_links = ShareLinks(database, clock)

    @cached_property
    def accounts(self) -> AccountStore:
        """The users, their sessions, and the wrong passwords that were tried."""
        from salvo.playbooks.accounts.account_store import AccountStore  # so that `byop run` starts without it

        return AccountStore(self._database, self._clock)

    @classmethod
    def open(
        cls,
        url: str,
        clock: Clock,
        *,
        make: bool = True,
        read_key: ReadKey | None = None,
        hide_place: bool = False,
    ) -> Self:
        """Open the database, and bring its tables up to date.

        Without `make`, a missing file is not created: UnknownIdError says that nothing is stored. The key that
        `read_key` returns signs each new entry of the audit log. With `hide_place`, errors do not say where it is.
        """
        database = _database(url, read_key, hide_place=hide_place)
        if database.is_new and not make:
            raise nothing_stored(database.name_in_errors)
        try:
            database.bring_up_to_date()
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    @classmethod
    def open_later(cls, url: str, clock: Clock, *, read_key: ReadKey | None = None, hide_place: bool = False) -> Self:
        """Do the same, but create a missing file only when something is read or written."""
        database = _database(url, read_key, hide_place=hide_place)
        if not database.is_new:
            database.close()
            return cls.open(url, clock, read_key=read_key, hide_place=hide_place)
        database.make_when_needed()
        return cls(database, clock)

    @property
    def is_new(self) -> bool:
        """Whether not even the file exists."""
        return self._database.is_new

    @property
    def place(self) -> str:
        """The location of the database, for messages."""
        return self._database.place

    def check_writable(self) -> None:
        """Raise StoreError if nothing can be written: the database is locked for too long, or read-only."""
        with self._database.writing() as connection:
            connection.exec_driver_sql(TOUCH)

    def listen(self, on_change: Callable[[str, str], None]) -> ChangeListener | None:
        """Call the function in another thread when something changes; None where the database tells nobody."""
        return self._database.listen(on_change)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Running an evaluation.

    def begin(
        self,
        request: EvaluationRequest,
        *,
        settings: Mapping[str, Any] | None = None,
        in_full: bool = True,
        group: str | None = None,
        submission: Submission | None = None,
        earlier_votes: Sequence[Vote] = (),
    ) -> list[int]:
        """Store the request, before the first call, with votes of an earlier evaluation, and return their numbers.

        See `StoredEvaluation` for the options. Without `in_full`, only fingerprints and verdicts are stored, and no
        text. `submission` is given if a client asked a server for it; TokenUsedError if its token was used before.
        """
        now = self._now()
        columns = {"group_id": group, "created_at": now, "touched_at": now}
        with self._database.writing(alone=True) as connection:
            if submission is not None and submission.token is not None:
                self.queue.check_token(connection, submission.token)
                columns["client_token"] = as_name(submission.token)
            columns |= self.queue.lease_columns(connection, submission)
            logged = rows.insert_evaluation(connection, request, settings=settings or {}, in_full=in_full, **columns)
            who = audit_log.who(None if submission is None else submission.user)
            content = audit_log.content(audit_log.CREATED, request.report_id, None, at=now, **logged, **who)
            audit_entries.append(connection, content)
            return votes.insert_votes(connection, request.report_id, earlier_votes, in_full=in_full)

    def resume(self, evaluation_id: str, submission: Submission | None = None, *, collects_batch: bool = False) -> None:
        """Let this process run an evaluation that ended without a report; or, with a submission, queue it.

        One that waits for a provider's batch is refused, unless its answers are collected: its votes are paid for.
        """
        with self._database.writing(alone=True) as connection:
            row = rows.lock_open_evaluation(connection, evaluation_id)
            if row["state"] == State.RUNNING and self._is_held(row):
                raise UsageError(
                    f"The evaluation {evaluation_id} is still running in another process.",
                    hint="Wait for it, or cancel it first.",
                )
            if row["state"] == State.BATCHED and not collects_batch:
                raise UsageError(
                    f"The evaluation {evaluation_id} waits for the provider's batch, whose votes are paid for.",
                    hint=f"Complete it with: byop collect {evaluation_id}",
                )
            lease = self.queue.lease_columns(connection, submission)
            changes = {"state": State.RUNNING, **lease}
            user = None if submission is None else submission.user
            change_state(connection, evaluation_id, audit_log.RESUMED, self._clock.now(), user=user, **changes)

    def save_votes(self, evaluation_id: str, new: Sequence[Vote]) -> list[int]:
        """Store all votes or none, and return their numbers within the evaluation: from 1, in order of arrival.

        A run without a valid vote may be repeated, and its new vote replaces the old one. A valid vote stays.
        LeaseLostError if another process runs the evaluation now: then none is stored.
        """
        with self._database.writing() as connection:
            row = rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            if row["state"] == State.RUNNING:
                return self._insert_votes(connection, evaluation_id, new, row)
        # The log has the votes of an evaluation that ended, so it gets those that arrive later as well.
        with self._database.writing(alone=True) as connection:
            row = rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            numbers = self._insert_votes(connection, evaluation_id, new, row)
            if row["state"] != State.RUNNING:
                change_state(connection, evaluation_id, audit_log.LATE_VOTES, self._clock.now())
        return numbers

    def _insert_votes(
        self, connection: Connection, evaluation_id: str, new: Sequence[Vote], row: RowMapping
    ) -> list[int]:
        numbers = votes.insert_votes(connection, evaluation_id, new, in_full=row["stored_in_full"])
        update_evaluation(connection, evaluation_id, self._clock.now())
        return numbers

    def votes(self, evaluation_id: str, after: int = 0) -> list[tuple[int, Vote]]:
        """Return the votes with a higher number than `after`, in order of arrival."""
        with self._database.reading() as connection:
            return votes.list_votes(connection, evaluation_id, after)

    def finish(self, evaluation_id: str, report: Report) -> None:
        """Store the report, and append the evaluation to the audit log: both, or neither.

        LeaseLostError if another process runs the evaluation now.
        """
        now = self._now()
        with self._database.writing(alone=True) as connection:
            row = rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            stored = report if row["stored_in_full"] else without_texts(report)
            changes = {
                "state": str(State.DONE),
                "finished_at": now,
                "status": str(report.summary.overall_status),
                "consistency": measured_consistency(report),
                "incomplete": report.incomplete,
                "report_hash": stored.integrity.report_hash,
                "outcomes": as_text({check.check_id: check.result for check in report.check_results}),
                "report": as_text(stored.document()),
            }
            update_evaluation(connection, evaluation_id, self._clock.now(), **changes)
            raw_runs = votes.raw_runs(connection, evaluation_id)
            columns = audit_log.hash_long_columns(changes)
            entry = audit_log.evaluation(report, raw_runs, at=now, stored=stored, columns=columns)
            audit_entries.append(connection, entry)

    def interrupt(self, evaluation_id: str) -> None:
        """LeaseLostError if another process runs the evaluation now."""
        with self._database.writing(alone=True) as connection:
            rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            change_state(connection, evaluation_id, audit_log.INTERRUPTED, self._clock.now(), state=State.INTERRUPTED)

    def save_batch(self, evaluation_id: str, batch: Mapping[str, Any], *, waits: bool) -> None:
        """Store the batch of an own evaluation's questions. It `waits` when this process has done what it can.

        LeaseLostError if another process runs the evaluation now.
        """
        with self._database.writing(alone=True) as connection:
            rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            request = rows.request_with(connection, evaluation_id, {rows.BATCH_KEY: batch})
            changes = {"state": State.BATCHED if waits else State.RUNNING, "request": request}
            change_state(connection, evaluation_id, audit_log.BATCHED, self._clock.now(), **changes)

    def batched(self) -> list[str]:
        """Return the ids of the evaluations that wait for a provider's batch, oldest first."""
        with self._database.reading() as connection:
            query = select(evaluations.c.id).where(evaluations.c.state == State.BATCHED).order_by(evaluations.c.id)
            return _texts(connection.scalars(query))

    def cancel(self, evaluation_id: str, *, user: str | None = None) -> None:
        """Cancel an evaluation, whoever runs it. The process that does notices it soon and stops.

        The audit log has the `user` who is logged in.
        """
        with self._database.writing(alone=True) as connection:
            rows.lock_open_evaluation(connection, evaluation_id)
            state = {"state": State.CANCELLED}
            change_state(connection, evaluation_id, audit_log.CANCELLED, self._clock.now(), user=user, **state)

    def fail(self, evaluation_id: str, error: ErrorDetail) -> None:
        """Store why the evaluation failed. It can still be resumed. LeaseLostError if another process runs it now."""
        with self._database.writing(alone=True) as connection:
            rows.lock_open_evaluation(connection, evaluation_id, owner=self._owner)
            failed = rows.request_with(connection, evaluation_id, {rows.ERROR_KEY: error})
            changes = {"state": State.FAILED, "request": failed}
            change_state(connection, evaluation_id, audit_log.FAILED, self._clock.now(), **changes)

    def started_before(self, moment: datetime) -> list[OldEvaluation]:
        """Return the evaluations that were started before this time, the oldest first."""
        with self._database.reading() as connection:
            return retention.list_before(connection, leases.as_stored(moment), self._state)

    def delete(
        self, evaluation_id: str, *, by: str | None = None, authenticated: bool = False, reason: str = ""
    ) -> None:
        """Remove the texts, votes and report of an evaluation. The audit log stays, and records who did it and when.

        `by` is the name of who asked for it; by default that of the operating system's user. It is `authenticated` if
        they logged in with it. The `reason` is recorded if there is one.
        """
        user = process_owner.system_user()
        now = self._now()
        with self._database.writing(alone=True) as connection:
            row = rows.get_row(connection, evaluation_id)
            if row["state"] == State.RUNNING and self._state(row) is not State.INTERRUPTED:
                raise UsageError(
                    f"The evaluation {evaluation_id} is still running.", hint="Wait for it, or cancel it first."
                )
            baselines.clear(connection, row, now, user=by if authenticated else None)
            connection.execute(delete(tables.votes).where(tables.votes.c.evaluation_id == evaluation_id))
            connection.execute(delete(evaluations).where(evaluations.c.id == evaluation_id))
            notifications.evaluation_changed(connection, evaluation_id)
            who = {"by": by or user, "system_user": user, **audit_log.who(by if authenticated else None)}
            details = {**who, "reason": reason} if reason else who
            report_hash = as_logged(row["report_hash"])
            content = audit_log.content(audit_log.ERASURE, evaluation_id, report_hash, at=now, **details)
            audit_entries.append(connection, content)
        self._database.forget()

    # Reading what is stored.

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

    def existing_ids(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids whose evaluations are stored."""
        query = select(evaluations.c.id).where(evaluations.c.id.in_(set(ids)))
        with self._database.reading() as connection:
            return frozenset(_texts(connection.scalars(query)))

    def orphans(self) -> list[tuple[str, str]]:
        """Return the tables and ids of rows about evaluations that are not stored."""
        with self._database.reading() as connection:
            return raw_rows.list_orphans(connection)

    def history(
        self,
        subject: str | None = None,
        *,
        status: ShownStatus | None = None,
        mode: Mode | None = None,
        search: str = "",
        in_texts: bool = False,
        sort: HistorySort = HistorySort.DATE,
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> EvaluationList:
        """Return the evaluations, by default the newest first. `search` looks in ids and names, and ignores case.

        With `in_texts` it also looks in the texts that are stored. Damaged evaluations count for the limit, and are
        named instead of listed.
        """
        filters = HistoryFilters(subject, status, mode, search, in_texts=in_texts)
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
            leased = self._running_states(connection) if any(row["state"] == State.RUNNING for row in page) else {}
        records, damaged = [], []
        for row in page:
            try:
                record = rows.make_record(HistoryRow, row)
                records.append(replace(record, state=leased.get(record.id, record.state)))
            except DamagedEvaluationError as error:
                damaged.append(DamagedEvaluation(error.evaluation_id, str(error)))
        return EvaluationList(records, damaged, more=len(rows_read) > len(page), total=total)

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

    # Baselines.

    def set_baseline(self, evaluation_id: str, reason: str = "", *, user: str | None = None) -> None:
        """Save a report to compare later ones with. The audit log has the reason, and the user who is logged in."""
        with self._database.writing(alone=True) as connection:
            row = rows.get_row(connection, evaluation_id)
            baselines.save(connection, row, self._now(), reason, user=user)

    def clear_baseline(self, evaluation_id: str, *, user: str | None = None) -> None:
        """Remove a baseline. The report itself stays."""
        with self._database.writing(alone=True) as connection:
            if not baselines.clear(connection, rows.get_row(connection, evaluation_id), self._now(), user=user):
                raise UsageError(
                    f"The report {evaluation_id} is not saved as a baseline.", hint="`byop baseline list` shows those."
                )

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

    # Reviews. What else there is of them is in `reviews`.

    def review_events(self, evaluation_id: str) -> list[ReviewEvent]:
        """Return what people decided, said and signed about a report, the oldest first."""
        return self.reviews.events(evaluation_id)

    def labels(self, *, playbook_hash: str | None = None, check_id: str | None = None) -> list[ReviewLabel]:
        """Return what reviewers decided: one row per report, check and reviewer, the oldest report first."""
        return self.reviews.labels(playbook_hash=playbook_hash, check_id=check_id)

    # The audit log.

    def record_export(
        self, evaluation_id: str, form: str, content: bytes, *, user: str | None = None, share_link: str | None = None
    ) -> None:
        """Record that the report was exported: the format, the hash of the file, and the user who is logged in.

        `share_link` is the id of the link through which it was exported instead.
        """
        with self._database.writing(alone=True) as connection:
            report_hash = as_logged(rows.get_row(connection, evaluation_id)["report_hash"])
            details = {"format": form, "file_sha256": sha256(content), **audit_log.who(user)}
            if share_link is not None:
                details["share_link"] = {"id": share_link}
            entry = audit_log.content(audit_log.EXPORT, evaluation_id, report_hash, at=self._now(), **details)
            audit_entries.append(connection, entry)

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

    def record_key(self, action: str, public_key: str, at: str, **details: str) -> None:
        """Record that a signing key was replaced or revoked."""
        with self._database.writing(alone=True) as connection:
            audit_entries.append(connection, {"action": action, "at": at, "public_key": public_key, **details})

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

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="milliseconds")


def _database(url: str, read_key: ReadKey | None, *, hide_place: bool) -> Database:
    return Database(url, hide_place=hide_place, **{audit_entries.SIGNING_KEY: read_key})


def nothing_stored(place: str) -> UnknownIdError:
    return UnknownIdError(f"No evaluation is stored in {place} yet.", hint=RUN_HINT)


def _texts(values: Iterable[Any]) -> list[str]:
    """Return the values without binary data, which only a damaged row has."""
    return [value for value in values if isinstance(value, str)]


def _id_list(ids: Sequence[str]) -> str:
    more = len(ids) - _MAX_SUGGESTIONS
    return ", ".join(ids[:_MAX_SUGGESTIONS]) + (f" and {more} more." if more > 0 else ".")
