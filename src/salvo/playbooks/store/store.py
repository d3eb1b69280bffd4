"""The database of playbook evaluations. Threads and processes may use it at the same time.

What a method wrote is stored when it returns. An evaluation is stored before its first call, each vote as it arrives,
and the report together with its entry in the audit log, so a killed process loses at most the votes in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, RowMapping, delete

from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.clock import Clock
from salvo.errors import UsageError
from salvo.playbooks.accounts.account_store import AccountStore
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.text_hashing import without_texts
from salvo.playbooks.documents.batch_store import DocumentBatches
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report, measured_consistency
from salvo.playbooks.review.events import ReviewEvent
from salvo.playbooks.review.labels import ReviewLabel
from salvo.playbooks.review.review_store import ReviewStore
from salvo.playbooks.store import tables
from salvo.playbooks.store.column_text import as_name, as_text
from salvo.playbooks.store.damage import as_logged
from salvo.playbooks.store.database import Database
from salvo.playbooks.store.evaluation_reader import EvaluationReader, nothing_stored
from salvo.playbooks.store.location import TOUCH
from salvo.playbooks.store.queueing import notifications, process_owner
from salvo.playbooks.store.queueing.leases import Submission
from salvo.playbooks.store.queueing.notifications import ChangeListener
from salvo.playbooks.store.queueing.queue import EvaluationQueue
from salvo.playbooks.store.records import (
    ErrorDetail,
    State,
)
from salvo.playbooks.store.rows import audit_entries, baselines, text_words, votes
from salvo.playbooks.store.rows import evaluations as rows
from salvo.playbooks.store.rows.state_changes import change_state, update_evaluation
from salvo.playbooks.store.saved_playbooks import SavedPlaybooks
from salvo.playbooks.store.share_links import ShareLinks
from salvo.playbooks.store.tables import evaluations

if TYPE_CHECKING:
    from salvo.playbooks.audit.head_key import ReadKey
    from salvo.playbooks.evaluate.request import EvaluationRequest


class EvaluationStore(EvaluationReader):
    """Use `open` to make one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock, process_owner.new_owner())
        self.queue = EvaluationQueue(database, clock, self._owner)
        self.reviews = ReviewStore(database, clock)
        self.batches = DocumentBatches(database, clock, self._owner)
        self.saved_playbooks = SavedPlaybooks(database, clock)
        self.share_links = ShareLinks(database, clock)
        self.accounts = AccountStore(database, clock)

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
            text_words.remove(connection, evaluation_id)
            connection.execute(delete(tables.votes).where(tables.votes.c.evaluation_id == evaluation_id))
            connection.execute(delete(evaluations).where(evaluations.c.id == evaluation_id))
            notifications.evaluation_changed(connection, evaluation_id)
            who = {"by": by or user, "system_user": user, **audit_log.who(by if authenticated else None)}
            details = {**who, "reason": reason} if reason else who
            report_hash = as_logged(row["report_hash"])
            content = audit_log.content(audit_log.ERASURE, evaluation_id, report_hash, at=now, **details)
            audit_entries.append(connection, content)
        self._database.forget()

    def index_texts(self, count: int) -> int:
        """Index the texts of some evaluations of an earlier version of the database; return how many are left."""
        with self._database.reading() as connection:
            words = text_words.read_next(connection, count)
        with self._database.writing(alone=True) as connection:
            text_words.index(connection, words)
            return text_words.waiting(connection)

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

    def record_key(self, action: str, public_key: str, at: str, **details: str) -> None:
        """Record that a signing key was replaced or revoked."""
        with self._database.writing(alone=True) as connection:
            audit_entries.append(connection, {"action": action, "at": at, "public_key": public_key, **details})


def _database(url: str, read_key: ReadKey | None, *, hide_place: bool) -> Database:
    return Database(url, hide_place=hide_place, **{audit_entries.SIGNING_KEY: read_key})
