"""The queue of evaluations that several servers share: who runs which, and whose turn is next.

A server runs what it owns and holds a lease on. What waits for any server is owned by nobody. Claiming it changes only
columns that are no evidence, so the audit log has no entry of it. It has one if an evaluation was taken from an owner.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from salvo.errors import TokenUsedError
from salvo.playbooks.audit import audit_log
from salvo.playbooks.store.column_text import as_name
from salvo.playbooks.store.database import OwnerStore
from salvo.playbooks.store.queueing import leases, notifications
from salvo.playbooks.store.queueing.leases import NOBODY, Submission
from salvo.playbooks.store.records import State
from salvo.playbooks.store.rows.state_changes import change_state, update_evaluation
from salvo.playbooks.store.tables import IS_RUNNING, evaluations
from salvo.records import record

_ROW = evaluations.c
LEASE_COLUMNS = (_ROW.id, _ROW.owner, _ROW.lease_until, _ROW.began_at, _ROW.requirement)
_IS_WAITING = and_(IS_RUNNING, _ROW.began_at.is_(None))


@record
class QueueCounts:
    """Of all servers that use the database."""

    waiting: int
    running: int


@record
class AbandonedEvaluations:
    """What was done about the evaluations whose owner is gone, by their ids."""

    requeued: tuple[str, ...] = ()
    """Any server can run them."""
    interrupted: tuple[str, ...] = ()
    """They need a key that was in the memory of their owner, or texts that are not stored."""


class EvaluationQueue(OwnerStore):
    def lease_columns(self, connection: Connection, submission: Submission | None) -> dict[str, Any]:
        """Return the columns of an evaluation that is begun or resumed, by a command or by the submission's client."""
        now = self._clock.now()
        owned: dict[str, Any] = {"owner": self._owner, "lease_until": leases.lease_end(now)}
        if submission is None:
            return {**owned, "began_at": leases.as_stored(now), "turn": None, "client": None, "requirement": None}
        if submission.waits:
            notifications.queue_changed(connection)
        if submission.waits and submission.is_shared:
            owned = {"owner": NOBODY, "lease_until": None}
        return {
            **owned,
            "began_at": None if submission.waits else leases.as_stored(now),
            "turn": _next_turn(connection, submission.client),
            "client": submission.client,
            "requirement": submission.requirement,
        }

    def check_token(self, connection: Connection, token: str) -> None:
        """Raise TokenUsedError if an evaluation was started with this token."""
        used_by = connection.scalar(select(_ROW.id).where(_ROW.client_token == as_name(token)))
        if used_by is not None:
            raise TokenUsedError(str(used_by))

    def find_token(self, token: str) -> str | None:
        """Return the id of the evaluation that was started with this token."""
        with self._database.reading() as connection:
            used_by = connection.scalar(select(_ROW.id).where(_ROW.client_token == as_name(token)))
            return None if used_by is None else str(used_by)

    def claim(self, requirements: Collection[str], before: tuple[int, str] | None = None) -> str | None:
        """Become the owner of the waiting evaluation whose turn is next, and return its id; None if there is none.

        Only those whose requirement is in the list, and only those that come before the given turn and id.
        """
        waiting = _waiting_for_anybody(requirements, before).limit(1)
        with self._database.reading() as connection:  # most of the time nothing waits, and nobody must be locked out
            if connection.scalar(waiting) is None:
                return None
        now = self._clock.now()
        with self._database.writing() as connection:
            evaluation_id: str | None = connection.scalar(waiting.with_for_update(skip_locked=True))
            if evaluation_id is not None:
                lease = {"owner": self._owner, "lease_until": leases.lease_end(now)}
                update_evaluation(connection, evaluation_id, now, began_at=leases.as_stored(now), **lease)
            return evaluation_id

    def begin(self, evaluation_id: str) -> bool:
        """Note that an own evaluation no longer waits. Return False if it is no longer an own one."""
        now = self._clock.now()
        with self._database.writing() as connection:
            is_own = bool(self._own(connection, [evaluation_id]))
            if is_own:
                update_evaluation(connection, evaluation_id, now, began_at=leases.as_stored(now))
            return is_own

    def turn(self, evaluation_id: str) -> int:
        with self._database.reading() as connection:
            return connection.scalar(select(_ROW.turn).where(_ROW.id == evaluation_id)) or 0

    def renew(self, evaluation_ids: Collection[str]) -> set[str]:
        """Renew the leases on these evaluations, and return the ids of those that still run and are this owner's."""
        now = self._clock.now()
        with self._database.writing() as connection:
            own = self._own(connection, evaluation_ids)
            values = {"lease_until": leases.lease_end(now), "touched_at": leases.as_stored(now)}
            if own:
                connection.execute(update(evaluations).where(_ROW.id.in_(own)).values(values))
            return own

    def _own(self, connection: Connection, evaluation_ids: Collection[str]) -> set[str]:
        own = select(_ROW.id).where(IS_RUNNING, _ROW.owner == self._owner, _ROW.id.in_(sorted(evaluation_ids)))
        return set(connection.scalars(own.order_by(_ROW.id).with_for_update()))

    def release(self, evaluation_id: str) -> None:
        """Let any other server run an own evaluation."""
        with self._database.writing(alone=True) as connection:
            if self._own(connection, [evaluation_id]):
                self._requeue(connection, evaluation_id)

    def release_abandoned(self) -> AbandonedEvaluations:
        """Find the evaluations whose owner is gone. Queue those that any server can run; the others are interrupted."""
        with self._database.reading() as connection:
            if not self._abandoned(connection, _owned_by_somebody()):
                return AbandonedEvaluations()
        requeued, interrupted = [], []
        with self._database.writing(alone=True) as connection:
            # Skipping those that are locked: somebody is writing, so the owner may be alive.
            for row in self._abandoned(connection, _owned_by_somebody().with_for_update(skip_locked=True)):
                if leases.may_be_shared(row["requirement"]):
                    self._requeue(connection, row["id"])
                    requeued.append(row["id"])
                else:
                    state = {"state": State.INTERRUPTED}
                    change_state(connection, row["id"], audit_log.INTERRUPTED, self._clock.now(), **state)
                    interrupted.append(row["id"])
        return AbandonedEvaluations(tuple(requeued), tuple(interrupted))

    def _abandoned(self, connection: Connection, owned: Select[Any]) -> list[Any]:
        now = self._clock.now()
        return [
            row
            for row in connection.execute(owned).mappings()
            if isinstance(row["id"], str)
            and row["owner"] != self._owner
            and leases.is_abandoned(row["owner"], row["lease_until"], now)
        ]

    def _requeue(self, connection: Connection, evaluation_id: str) -> None:
        lease = {"owner": NOBODY, "lease_until": None, "began_at": None}
        change_state(connection, evaluation_id, audit_log.RESUMED, self._clock.now(), state=State.RUNNING, **lease)
        notifications.queue_changed(connection)

    def position(self, evaluation_id: str) -> int | None:
        """Return the place of a waiting evaluation in the queue of all servers, from 1; None if it does not wait."""
        with self._database.reading() as connection:
            own = connection.execute(select(_ROW.turn, _ROW.id).where(_IS_WAITING, _ROW.id == evaluation_id)).first()
            if own is None:
                return None
            earlier = select(func.count()).where(_IS_WAITING, _comes_before(own.turn or 0, own.id))
            return 1 + (connection.scalar(earlier) or 0)

    def positions(self) -> dict[str, int]:
        """Return the place of every waiting evaluation, from 1, by its id."""
        with self._database.reading() as connection:
            waiting = connection.scalars(select(_ROW.id).where(_IS_WAITING).order_by(_ROW.turn, _ROW.id))
            return {evaluation_id: place for place, evaluation_id in enumerate(waiting, start=1)}

    def counts(self) -> QueueCounts:
        with self._database.reading() as connection:
            query = select(func.count(), func.count(_ROW.began_at)).where(IS_RUNNING)
            total, started = connection.execute(query).one()
            return QueueCounts(total - started, started)


def _waiting_for_anybody(requirements: Collection[str], before: tuple[int, str] | None) -> Select[Any]:
    is_next = [_comes_before(*before)] if before else []
    is_claimable = and_(_IS_WAITING, _ROW.owner == NOBODY, _ROW.requirement.in_(sorted(requirements)), *is_next)
    return select(_ROW.id).where(is_claimable).order_by(_ROW.turn, _ROW.id)


def _comes_before(turn: int, evaluation_id: str) -> Any:
    return or_(_ROW.turn < turn, and_(_ROW.turn == turn, _ROW.id < evaluation_id))


def _owned_by_somebody() -> Select[Any]:
    return select(*LEASE_COLUMNS).where(IS_RUNNING, _ROW.owner != NOBODY).order_by(_ROW.turn, _ROW.id)


def _next_turn(connection: Connection, client: str) -> int:
    waiting, started = (
        connection.scalar(select(function(_ROW.turn)).where(condition))
        for function, condition in ((func.min, _IS_WAITING), (func.max, IS_RUNNING))
    )
    served = waiting if waiting is not None else started or 0
    own = connection.scalar(select(func.max(_ROW.turn)).where(IS_RUNNING, _ROW.client == client))
    return leases.next_turn(served, own)
