"""Who runs an evaluation, and for how long others must believe it. Pure.

An owner holds a lease and renews it while it works. Whoever finds a lease that ended may give the evaluation to another
owner. The former owner may still be alive, paused or cut off, so time alone protects nothing: every write of an owner
checks, in its own transaction, that the evaluation is still its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from salvo.playbooks.store.queueing import process_owner
from salvo.playbooks.store.records import State
from salvo.records import record

LEASE = timedelta(seconds=15)
"""From each renewal."""
CLOCK_TOLERANCE = timedelta(seconds=5)
"""How far the clocks of two machines may be apart. A larger difference wastes work, but stores nothing twice."""

NOBODY = ""
"""The owner of an evaluation that waits for any server."""
TYPED_KEY = "typed key"
"""The requirement of an evaluation whose key was typed: only the server that has it in memory can run it."""


@record
class Submission:
    """How an evaluation was given to a server."""

    client: str
    """Who asked for it. Clients take turns."""
    requirement: str | None
    """What a server must have to run it: "" for nothing. None if its texts are not stored, so that no other server can
    run it."""
    token: str | None = None
    """Two requests with the same token are one."""
    waits: bool = False
    """Whether it waits for its turn; otherwise this server runs it at once."""
    user: str | None = None
    """The user who asked for it, if they logged in with their name."""

    @property
    def is_shared(self) -> bool:
        """Whether any server with what it requires can run it."""
        return may_be_shared(self.requirement)


def may_be_shared(requirement: object) -> bool:
    return isinstance(requirement, str) and requirement != TYPED_KEY


def lease_end(now: datetime) -> str:
    return as_stored(now + LEASE)


def as_stored(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def is_abandoned(owner: object, lease_until: object, now: datetime) -> bool:
    """Return whether an owner has ended, or has not renewed its lease in time."""
    if owner == NOBODY:
        return False
    if not isinstance(owner, str) or process_owner.has_ended(owner):
        return True
    try:
        return now > datetime.fromisoformat(str(lease_until)) + CLOCK_TOLERANCE
    except (ValueError, TypeError):  # not a time, or one without a time zone; earlier versions stored none
        return True


def actual_state(state: State, lease: Mapping[str, Any], now: datetime, *, own: str) -> State:
    """Return the state of an evaluation that is stored as running, by the columns of its lease.

    `own` is the owner that asks: it knows about itself.
    """
    if state is not State.RUNNING:
        return state
    if lease["owner"] == own or not is_abandoned(lease["owner"], lease["lease_until"], now):
        return State.QUEUED if lease["began_at"] is None else State.RUNNING
    return State.QUEUED if may_be_shared(lease["requirement"]) else State.INTERRUPTED


def next_turn(served_turn: int, last_own_turn: int | None) -> int:
    """Return the turn of a client's new evaluation: lower turns go first, and equal ones by age.

    `served_turn` is the turn that is being served; `last_own_turn` that of the client's newest evaluation that has not
    ended, if there is one. A client with a hundred evaluations has a hundred turns, and another client's first one
    shares the turn that is being served.
    """
    return served_turn if last_own_turn is None else max(served_turn, last_own_turn + 1)
