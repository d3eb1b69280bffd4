"""The one door to the database. Threads and processes may use it at once; what a method wrote is there when it returns.

An evaluation is stored before its first call, each vote as it arrives, the report with its entry in the audit log in
one transaction. So whoever is killed loses at most the votes in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, RowMapping, and_, bindparam, delete, desc, func, insert, select, update

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.clock import Clock
from salvo.errors import AmbiguousIdError, InputError, StoreError, UnknownIdError, UsageError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry, RawRunRecord
from salvo.playbooks.audit.text_hashing import without_texts
from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report
from salvo.playbooks.store import process_owner, queries, rows, vote_rows
from salvo.playbooks.store.columns import as_name, as_text, inputs_text, vote_of
from salvo.playbooks.store.database import Database
from salvo.playbooks.store.location import TOUCH
from salvo.playbooks.store.records import (
    BEGIN,
    BaselineRecord,
    HistoryRow,
    NewEvaluation,
    RawEvaluation,
    State,
    StoredError,
    StoredEvaluation,
    TimelinePoint,
    UsedPlaybook,
)
from salvo.playbooks.store.tables import audit as audit_table
from salvo.playbooks.store.tables import baselines, evaluations, playbooks, votes

LATEST = "latest"
_NEAR = 5
_SEARCHED = 1000
"""Ids among which a misspelt one is looked for."""
_AFTER_EVERY_ID = "\x7f"
_LISTS = "`byop history` lists them."


class EvaluationStore:
    """Made by `Store.open`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._owner = process_owner.this_process()

    @classmethod
    def open(cls, url: str, clock: Clock, *, make: bool = True) -> Self:
        """Opens the database and brings its tables up to date.

        Without `make`, a file that does not exist is not made: UnknownIdError says that nothing is stored.
        """
        database = Database(url)
        if database.is_new and not make:
            raise nothing_stored(database.place)
        try:
            database.bring_up_to_date()
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    @classmethod
    def open_later(cls, url: str, clock: Clock) -> Self:
        """The same, but a file that does not exist is made by whoever first reads or writes."""
        database = Database(url)
        if not database.is_new:
            database.close()
            return cls.open(url, clock)
        database.make_when_needed()
        return cls(database, clock)

    @property
    def is_new(self) -> bool:
        """Whether there is nothing yet, not even the file."""
        return self._database.is_new

    @property
    def place(self) -> str:
        """Where everything is, as people are shown it."""
        return self._database.place

    def check_writable(self) -> None:
        """StoreError where nothing can be written: locked by another for too long, or read-only."""
        with self._database.writing() as connection:
            connection.exec_driver_sql(TOUCH)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # An evaluation, from its first moment to its last.

    def begin(self, evaluation: NewEvaluation) -> None:
        """Stores what is asked for, before the first call."""
        now = self._now()
        inputs = evaluation.inputs
        request = {
            "subject": evaluation.subject,
            "evaluator": evaluation.evaluator,
            "producer": evaluation.producer,
            "settings": dict(evaluation.settings),
            "raw_hashes": inputs.raw_hashes or {},
        }
        with self._database.writing() as connection:
            _save_playbook(connection, evaluation)
            connection.execute(
                insert(evaluations).values(
                    id=evaluation.id,
                    group_id=evaluation.group,
                    created_at=now,
                    touched_at=now,
                    owner=process_owner.this_process(),
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

    def resume(self, evaluation_id: str) -> None:
        """Takes up one that ended without a report; this process runs it from now on."""
        with self._database.writing() as connection:
            found = _open_evaluation(connection, evaluation_id)
            if found["state"] == State.RUNNING and not self._is_gone(found):
                raise UsageError(
                    f"The evaluation {evaluation_id} is still running in another process.",
                    hint="Wait for it, or cancel it first.",
                )
            self._touch(connection, evaluation_id, state=State.RUNNING, owner=process_owner.this_process())

    def save_votes(self, evaluation_id: str, cast: Sequence[Vote]) -> list[int]:
        """Their numbers within the evaluation, from 1: a later vote has a higher one. All are stored, or none.

        A run that gave no vote may be asked again, and its new vote takes the place of the old; a vote stays.
        """
        with self._database.writing() as connection:
            found = _open_evaluation(connection, evaluation_id)
            numbers = vote_rows.insert_votes(connection, evaluation_id, cast, in_full=found["stored_in_full"])
            self._touch(connection, evaluation_id)
        return numbers

    def votes(self, evaluation_id: str, after: int = 0) -> list[tuple[int, Vote]]:
        """Those with a higher number than `after`, in the order in which they came."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(votes.c.sequence, votes.c.vote, votes.c.exchanges)
                .where(votes.c.evaluation_id == evaluation_id, votes.c.sequence > after)
                .order_by(votes.c.sequence)
            ).all()
        return [(row.sequence, vote_of(row.vote, row.exchanges)) for row in found]

    def finish(self, evaluation_id: str, report: Report) -> None:
        """Stores the report and appends the evaluation to the audit log: both, or neither."""
        now = self._now()
        with self._database.writing(alone=True) as connection:
            found = _open_evaluation(connection, evaluation_id)
            stored = report if found["stored_in_full"] else without_texts(report)
            self._touch(
                connection,
                evaluation_id,
                state=State.DONE,
                finished_at=now,
                status=report.summary.overall_status,
                consistency=report.variance_summary.consistency_score,
                incomplete=report.incomplete,
                report_hash=stored.integrity.report_hash,
                outcomes=as_text({check.check_id: check.result for check in report.check_results}),
                report=as_text(stored),
            )
            raw_runs = _raw_runs(connection, evaluation_id)
            _append(connection, evaluation_id, audit_log.evaluation(report, raw_runs, at=now, stored=stored))

    def interrupt(self, evaluation_id: str) -> None:
        self._end(evaluation_id, State.INTERRUPTED)

    def cancel(self, evaluation_id: str) -> None:
        self._end(evaluation_id, State.CANCELLED)

    def fail(self, evaluation_id: str, fault: StoredError) -> None:
        """It could not go on, and why. It can be resumed all the same."""
        with self._database.writing() as connection:
            _open_evaluation(connection, evaluation_id)
            asked = select(evaluations.c.request).where(evaluations.c.id == evaluation_id)
            request = as_text({**json_codec.loads(connection.execute(asked).scalar_one()), rows.FAULT: fault})
            self._touch(connection, evaluation_id, state=State.FAILED, request=request)

    def mark_interrupted(self) -> list[str]:
        """Those that a process left running which is gone by now."""
        with self._database.writing() as connection:
            running = connection.execute(
                select(evaluations.c.id, evaluations.c.owner, evaluations.c.touched_at)
                .where(evaluations.c.state == State.RUNNING)
                .order_by(evaluations.c.id)
                .with_for_update()
            ).mappings()
            left = [row["id"] for row in running if self._is_gone(row)]
            connection.execute(update(evaluations).where(evaluations.c.id.in_(left)).values(state=State.INTERRUPTED))
        return left

    def delete(self, evaluation_id: str) -> None:
        """Removes its texts, votes and report. The audit log stays as it is, and says so."""
        now = self._now()
        with self._database.writing(alone=True) as connection:
            found = _one(connection, evaluation_id)
            if found["state"] == State.RUNNING and not self._is_gone(found):
                raise UsageError(
                    f"The evaluation {evaluation_id} is still running.", hint="Wait for it, or cancel it first."
                )
            _clear_baseline(connection, evaluation_id, now)
            connection.execute(delete(votes).where(votes.c.evaluation_id == evaluation_id))
            connection.execute(delete(evaluations).where(evaluations.c.id == evaluation_id))
            _append(connection, evaluation_id, audit_log.deletion(evaluation_id, found["report_hash"], at=now))
        self._database.forget()

    # What is stored.

    def find(self, text: str) -> str:
        """The one evaluation whose id begins so, or the newest."""
        newest_first = select(evaluations.c.id).order_by(evaluations.c.id.desc())
        with self._database.reading() as connection:
            if text == LATEST:
                matching = list(connection.scalars(newest_first.limit(1)))
            else:
                # Not LIKE: SQLite's has no regard for case, and PostgreSQL's none for the index.
                start = as_name(text)
                begins = and_(evaluations.c.id >= start, evaluations.c.id < start + _AFTER_EVERY_ID)
                matching = list(connection.scalars(newest_first.where(begins))) if text else []
            ids = [] if matching else list(connection.scalars(newest_first.limit(_SEARCHED)))
        if text in matching or len(matching) == 1:
            return text if text in matching else matching[0]
        if matching:
            raise AmbiguousIdError(
                f"{len(matching)} of the stored ids begin with {text!r}.", hint=f"Which one? {_listed(matching)}"
            )
        if not ids:
            raise nothing_stored(self.place)
        near = get_close_matches(text, ids, _NEAR) or ids[:_NEAR]
        raise UnknownIdError(
            f"No evaluation has an id that begins with {text!r}.", hint=f"The nearest: {_listed(near)}"
        )

    def load(self, evaluation_id: str) -> StoredEvaluation:
        with self._database.reading() as connection:
            return self._loaded(_one(connection, evaluation_id))

    def as_stored(self, evaluation_id: str) -> RawEvaluation | None:
        """For a verifier: nothing is read into values, and None is an answer."""
        with self._database.reading() as connection:
            row = connection.execute(queries.whole().where(evaluations.c.id == evaluation_id)).mappings().one_or_none()
            if row is None:
                return None
            cast = connection.execute(
                select(votes).where(votes.c.evaluation_id == evaluation_id).order_by(votes.c.sequence)
            ).mappings()
            return rows.as_stored(row, cast)

    def history(
        self,
        subject: str | None = None,
        *,
        status: Status | None = None,
        mode: Mode | None = None,
        search: str = "",
        limit: int | None = None,
        offset: int = 0,
    ) -> list[HistoryRow]:
        """The newest first. `search` is looked for in ids and names, in any case."""
        query = queries.listed().order_by(evaluations.c.id.desc()).limit(limit).offset(offset)
        if subject is not None:
            query = query.where(evaluations.c.subject == as_name(subject))
        if status is not None:
            query = query.where(evaluations.c.status == status)
        if mode is not None:
            query = query.where(evaluations.c.mode == mode)
        if search:
            query = query.where(queries.holds(search))
        with self._database.reading() as connection:
            return [rows.history_row(row, self._state(row)) for row in connection.execute(query).mappings()]

    def timeline(self, subject: str, playbook_hash: str | None = None) -> list[TimelinePoint]:
        """Every report of a subject, the oldest first; all playbooks, or one."""
        query = queries.points().where(evaluations.c.subject == as_name(subject)).order_by(evaluations.c.id)
        if playbook_hash is not None:
            query = query.where(evaluations.c.playbook_hash == playbook_hash)
        with self._database.reading() as connection:
            return [rows.point(row) for row in connection.execute(query).mappings()]

    def playbooks(self, *, limit: int) -> list[UsedPlaybook]:
        """Those that evaluations were made with, the last used first."""
        query = queries.used().order_by(desc("used_by")).limit(limit)
        with self._database.reading() as connection:
            return [rows.used_playbook(row) for row in connection.execute(query).mappings()]

    def playbook(self, logic_hash: str) -> UsedPlaybook | None:
        query = queries.used().where(playbooks.c.logic_hash == as_name(logic_hash))
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else rows.used_playbook(row)

    def subjects(self) -> list[tuple[str, int]]:
        """Every subject that has a report, and how many, the one with the newest first."""
        query = (
            select(evaluations.c.subject, func.count())
            .where(evaluations.c.state == State.DONE)
            .group_by(evaluations.c.subject)
            .order_by(func.max(evaluations.c.id).desc())
        )
        with self._database.reading() as connection:
            return [(subject, reports) for subject, reports in connection.execute(query)]

    # Baselines.

    def set_baseline(self, evaluation_id: str) -> None:
        """Saves a report to compare later ones with; one that already is stays so."""
        now = self._now()
        with self._database.writing(alone=True) as connection:
            found = _one(connection, evaluation_id)
            _check_fit_for_baseline(found)
            if found["saved_at"] is not None:
                return
            series = {"playbook_hash": found["playbook_hash"], "subject": found["subject"]}
            connection.execute(insert(baselines).values(evaluation_id=evaluation_id, saved_at=now, **series))
            _append(
                connection,
                evaluation_id,
                audit_log.baseline(audit_log.BASELINE_SET, evaluation_id, found["report_hash"], at=now, **series),
            )

    def clear_baseline(self, evaluation_id: str) -> None:
        """The report itself stays."""
        with self._database.writing(alone=True) as connection:
            _one(connection, evaluation_id)
            if not _clear_baseline(connection, evaluation_id, self._now()):
                raise UsageError(
                    f"The report {evaluation_id} is not saved as a baseline.", hint="`byop baseline list` shows those."
                )

    def baselines(self) -> list[BaselineRecord]:
        """The newest saved first."""
        query = queries.saved().order_by(baselines.c.saved_at.desc(), evaluations.c.id.desc())
        with self._database.reading() as connection:
            return [rows.baseline(row) for row in connection.execute(query).mappings()]

    def baseline_for(self, playbook_hash: str, subject: str, before: str | None = None) -> StoredEvaluation | None:
        """What to compare with: the newest saved baseline of the series, else its newest full and complete report.

        `before` leaves out that evaluation and later ones. A screening is never compared with.
        """
        # The id first: to sort whole rows would read the texts of every evaluation of the series.
        query = queries.series(playbook_hash, subject).where(
            evaluations.c.mode == Mode.FULL, evaluations.c.incomplete.is_(False)
        )
        if before is not None:
            query = query.where(evaluations.c.id < before)
        query = query.order_by(
            baselines.c.saved_at.is_not(None).desc(), baselines.c.saved_at.desc(), evaluations.c.id.desc()
        )
        with self._database.reading() as connection:
            found = connection.scalar(query.limit(1))
            return None if found is None else self._loaded(_one(connection, found))

    # The audit log.

    def record_export(self, evaluation_id: str, form: str, content: bytes) -> None:
        """Notes that a file was made of the report: its format and its hash."""
        with self._database.writing(alone=True) as connection:
            found = _one(connection, evaluation_id)
            said = audit_log.export(
                evaluation_id, found["report_hash"], form=form, digest=sha256(content), at=self._now()
            )
            _append(connection, evaluation_id, said)

    def audit_log(self, evaluation_id: str | None = None) -> list[AuditEntry]:
        """The oldest first: all of it, or what is about one evaluation."""
        query = select(audit_table.c.sequence, audit_table.c.entry, audit_table.c.hash).order_by(audit_table.c.sequence)
        if evaluation_id is not None:
            query = query.where(audit_table.c.evaluation_id == evaluation_id)
        with self._database.reading() as connection:
            return [AuditEntry(*row) for row in connection.execute(query)]

    def _end(self, evaluation_id: str, state: State) -> None:
        with self._database.writing() as connection:
            _open_evaluation(connection, evaluation_id)
            self._touch(connection, evaluation_id, state=state)

    def _touch(self, connection: Connection, evaluation_id: str, **changes: Any) -> None:
        connection.execute(
            update(evaluations).where(evaluations.c.id == evaluation_id).values(touched_at=self._now(), **changes)
        )

    def _state(self, row: RowMapping) -> State:
        """As it is: one whose process is gone is not running, though nobody could write that down."""
        state = State(row["state"])
        return State.INTERRUPTED if state is State.RUNNING and self._is_gone(row) else state

    def _is_gone(self, row: RowMapping) -> bool:
        # Our own are not looked for: a busy server lists many of them.
        ours = row["owner"] == self._owner
        return not ours and process_owner.is_gone(row["owner"], row["touched_at"], self._clock.now())

    def _loaded(self, row: RowMapping) -> StoredEvaluation:
        try:
            return rows.stored_evaluation(row, self._state(row))
        except (ValueError, KeyError, TypeError, InputError) as fault:
            raise StoreError(
                f"The evaluation {row['id']} in {self.place} is damaged: {fault}",
                hint=f"`byop verify {row['id']}` says what was altered.",
            ) from fault

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="milliseconds")


def nothing_stored(place: str) -> UnknownIdError:
    return UnknownIdError(f"No evaluation is stored in {place} yet.", hint=BEGIN)


def _save_playbook(connection: Connection, evaluation: NewEvaluation) -> None:
    """Once: whoever stored one with the same hash stored the same."""
    # Only one of them is needed, and each takes its time to load.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_here
    else:
        from sqlalchemy.dialects.sqlite import insert as insert_here  # type: ignore[assignment]  # the same by design
    playbook = evaluation.playbook
    connection.execute(
        insert_here(playbooks)
        .values(
            logic_hash=playbook.logic_hash,
            id=as_name(playbook.id),
            version=as_name(playbook.version),
            document=as_text(playbook.document),
        )
        .on_conflict_do_nothing()
    )


# Made once: a statement that is made anew costs as much as what it does.
_HELD = (
    select(evaluations.c.state, evaluations.c.owner, evaluations.c.touched_at, evaluations.c.stored_in_full)
    .where(evaluations.c.id == bindparam("named"))
    .with_for_update()
)


def _open_evaluation(connection: Connection, evaluation_id: str) -> RowMapping:
    """One without a report yet, which nobody else changes until the transaction ends."""
    found = connection.execute(_HELD, {"named": evaluation_id}).mappings().one_or_none()
    if found is None:
        raise UnknownIdError(f"There is no evaluation {evaluation_id}.", hint=_LISTS)
    if found["state"] == State.DONE:
        raise UsageError(f"The evaluation {evaluation_id} is done, and its report is not changed any more.")
    return found


def _one(connection: Connection, evaluation_id: str) -> RowMapping:
    found = connection.execute(queries.whole().where(evaluations.c.id == evaluation_id)).mappings().one_or_none()
    if found is None:
        raise UnknownIdError(f"There is no evaluation {evaluation_id}.", hint=_LISTS)
    return found


def _raw_runs(connection: Connection, evaluation_id: str) -> Iterator[RawRunRecord]:
    found = connection.execute(
        select(
            votes.c.check_id, votes.c.run, votes.c.result, votes.c.valid, votes.c.vote_sha256, votes.c.exchanges_sha256
        )
        .where(votes.c.evaluation_id == evaluation_id)
        .order_by(votes.c.check_id, votes.c.run)
    )
    return (RawRunRecord(*row) for row in found)


def _append(connection: Connection, evaluation_id: str, content: Mapping[str, Any]) -> None:
    """Only ever in a transaction that writes alone: the next entry needs the last one."""
    newest = select(audit_table.c.sequence, audit_table.c.entry, audit_table.c.hash)
    before = connection.execute(newest.order_by(audit_table.c.sequence.desc()).limit(1)).one_or_none()
    entry = audit_log.seal(content, AuditEntry(*before) if before else None)
    connection.execute(
        insert(audit_table).values(
            sequence=entry.sequence, hash=entry.hash, evaluation_id=evaluation_id, entry=entry.text
        )
    )


def _check_fit_for_baseline(row: RowMapping) -> None:
    name = row["id"]
    if row["mode"] == Mode.SCREENING:
        raise UsageError(
            f"The report {name} is a screening: {Mode.SCREENING.label}.",
            hint="Run a full evaluation, and save that as the baseline.",
        )
    if row["state"] != State.DONE:
        raise UsageError(
            f"The evaluation {name} has no report: it is {row['state']}.", hint="Save one that is done as the baseline."
        )
    if row["incomplete"]:
        raise UsageError(
            f"The report {name} is incomplete: some checks have fewer than a majority of valid votes.",
            hint="Later reports would be compared with what is missing. Run the evaluation again.",
        )


def _clear_baseline(connection: Connection, evaluation_id: str, now: str) -> bool:
    """Whether there was one."""
    row = connection.execute(
        select(baselines.c.playbook_hash, baselines.c.subject, evaluations.c.report_hash)
        .join(evaluations, evaluations.c.id == baselines.c.evaluation_id)
        .where(baselines.c.evaluation_id == evaluation_id)
    ).one_or_none()
    if row is None:
        return False
    connection.execute(delete(baselines).where(baselines.c.evaluation_id == evaluation_id))
    said = audit_log.baseline(
        audit_log.BASELINE_CLEARED,
        evaluation_id,
        row.report_hash,
        playbook_hash=row.playbook_hash,
        subject=row.subject,
        at=now,
    )
    _append(connection, evaluation_id, said)
    return True


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - _NEAR
    return ", ".join(ids[:_NEAR]) + (f" and {more} more." if more > 0 else ".")
