"""The budget of a batch that several shards make: what each may spend, in the store.

    budgets/{command_id}.json     what sessions that have ended spent, and what the others were granted
    spending/{session_id}.json    what a session has spent, written by it alone: before a run of it is stored

A session draws a small share, spends it, and draws again. What it did not spend is returned when it ends. If it was
killed, what it had reported counts as spent and the rest is returned, once its leases have expired. So all sessions
together exceed the limit by no more than what their runs in flight cost.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from salvo.engine.jsonio import json_codec
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.stored_file import parse_stored

_MOST_TRIES = 100
_SMALLEST_SHARE = 0.01
"""Of the limit: less is not worth a write."""


@record
class Ledger:
    """What is spent and granted. All amounts are dollars."""

    spent: float = 0.0
    """By sessions that have ended."""
    grants: dict[str, float] = field(default_factory=dict)
    """What each session may spend in all."""


@record
class SessionSpending:
    spent: float


class Grant(NamedTuple):
    total: float
    """What this session may spend in all."""
    may_grow: bool
    """Whether others have not spent all that they were granted, so that some of it may be returned."""


class BudgetLedger:
    """The part of one session. Its methods block."""

    def __init__(self, storage: Storage, leases: Leases, command_id: str, limit: float, shards: int) -> None:
        self._storage = storage
        self._leases = leases
        self._key = f"budgets/{command_id}.json"
        self._limit = limit
        self._shards = shards

    def draw(self, spent: float) -> Grant:
        """Ask for a share besides what this session has spent so far."""
        for _ in range(_MOST_TRIES):
            ledger, version = self._read()
            used = self._settle_ended(ledger)
            session_id = self._leases.id
            grants = {**used.grants, session_id: max(spent, used.grants.get(session_id, 0.0))}
            reported = {other: self._reported(other) for other in grants if other != session_id}
            # Runs in flight may have cost more than was granted.
            others = sum(max(grants[other], cost) for other, cost in reported.items())
            free = self._limit - used.spent - others - grants[session_id]
            share = min(free, max(free / (2 * self._shards), self._limit * _SMALLEST_SHARE))
            if share > 0:
                grants[session_id] += share
            if self._write(Ledger(used.spent, grants), version):
                self._forget(ledger, used)
                may_grow = any(grants[other] > cost for other, cost in reported.items())
                return Grant(grants[session_id], may_grow)
        raise self._contested()

    def report(self, spent: float) -> None:
        """Store what this session has spent."""
        self._storage.put(self._spending_key(self._leases.id), json_codec.dumps(SessionSpending(spent)))

    def give_back(self, spent: float) -> None:
        """Return what this session did not spend. It may draw again."""
        self._update_own(spent, has_ended=False)

    def close(self, spent: float) -> None:
        """Return what this session did not spend, for good."""
        self._update_own(spent, has_ended=True)
        self._storage.delete(self._spending_key(self._leases.id))

    def _update_own(self, spent: float, *, has_ended: bool) -> None:
        for _ in range(_MOST_TRIES):
            ledger, version = self._read()
            grants = dict(ledger.grants)
            if grants.pop(self._leases.id, None) is None:
                return
            if not has_ended:
                grants[self._leases.id] = spent
            if self._write(Ledger(ledger.spent + (spent if has_ended else 0.0), grants), version):
                return
        raise self._contested()

    def _settle_ended(self, ledger: Ledger) -> Ledger:
        """Return the ledger with what sessions that ended without a word had spent."""
        ended_leases = ledger.grants.keys() - self._leases.living(ledger.grants)
        spent = ledger.spent + sum(self._reported(session_id) for session_id in ended_leases)
        return Ledger(spent, {name: granted for name, granted in ledger.grants.items() if name not in ended_leases})

    def _forget(self, before: Ledger, after: Ledger) -> None:
        for session_id in before.grants.keys() - after.grants.keys():
            self._storage.delete(self._spending_key(session_id))

    def _reported(self, session_id: str) -> float:
        key = self._spending_key(session_id)
        try:
            return parse_stored(self._storage.get(key), SessionSpending, self._storage.describe(key)).spent
        except FileNotFoundError:
            return 0.0

    def _read(self) -> tuple[Ledger, str | None]:
        stored = self._storage.get_versioned(self._key)
        if stored is None:
            return Ledger(), None
        return parse_stored(stored[0], Ledger, self._storage.describe(self._key)), stored[1]

    def _write(self, ledger: Ledger, version: str | None) -> bool:
        return self._storage.replace(self._key, json_codec.dumps(ledger), version)

    def _contested(self) -> StoreError:
        return StoreError(
            f"{self._storage.describe(self._key)} changes too often to be written.", hint="Try again later."
        )

    @staticmethod
    def _spending_key(session_id: str) -> str:
        return f"spending/{session_id}.json"
