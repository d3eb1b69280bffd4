"""The rounds of `--until-sure` in a batch that several shards make, in one store.

The rule is that of one process: runs are made in rounds, and the verdict is looked at when all runs of a round have
ended, whoever made them. A round has as many runs as all shards make at once. The batch in the store says how far the
rounds are; it is changed by compare-and-swap, so that each round is begun once. A shard makes its own part of a round
first, and then what nobody else makes: a shard that is missing delays nothing, and a dead one only until its leases
have expired.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from salvo.engine.runtime.pool import call_blocking
from salvo.records import record
from salvo.scenarios.analysis.confidence_gate import is_unsettled
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.shards import Shard
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.store import RunStore

_FIRST_WAIT = 0.1
_LONGEST_WAIT = 2.0
"""Seconds between two looks at what the other shards have stored."""


class _Look(NamedTuple):
    numbers: list[int]
    """The runs that this shard is to make next."""
    has_ended: bool


@record
class SharedRounds:
    """The part of one shard in the rounds of a batch."""

    shard: Shard
    offset: int
    """As in `Shard.numbers`."""
    at_once: int
    """How many runs of others this shard takes at a time."""

    async def next_numbers(
        self,
        store: RunStore,
        batch: Batch,
        *,
        is_stopped: Callable[[], bool],
        on_wait: Callable[[], Awaitable[None]],
    ) -> list[int]:
        """Return the runs of the batch to make next, which this process has leased. None are left if it is empty.

        Waits while others make the rest of a round.
        """
        wait = _FIRST_WAIT
        while not is_stopped():
            look = await call_blocking(self._look, store, batch, in_thread=store.is_shared)
            if look.numbers or look.has_ended:
                return look.numbers
            await on_wait()
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        return []

    def _look(self, store: RunStore, batch: Batch) -> _Look:
        current = store.read_batch(batch.batch_id)
        while True:
            batch.runs, batch.rounds = current.runs, current.rounds
            missing = sorted({*range(1, batch.runs + 1)} - store.stored_numbers(batch.batch_id))
            if missing:
                return _Look(self._claim(store, batch.batch_id, missing), has_ended=False)
            entries = store.batch_entries(batch)
            if not is_unsettled(batch, entries) or _is_stuck(batch, entries):
                return _Look([], has_ended=True)
            current = store.update_batch(batch.batch_id, lambda stored: _begin_round(stored, after=batch.runs))

    def _claim(self, store: RunStore, batch_id: str, missing: Sequence[int]) -> list[int]:
        leases = store.leases
        if leases is None:
            raise RuntimeError("the runs of a shard are made without leases")
        free = leases.unclaimed(batch_id, missing)
        wanted = self.shard.numbers(free, self.offset) or free[: self.at_once]
        granted = leases.claim(batch_id, wanted) if wanted else []
        return sorted({*granted} - store.stored_numbers(batch_id))  # one may have been stored before it was claimed


def _begin_round(batch: Batch, *, after: int) -> None:
    """Begin the next round, unless another shard has begun it."""
    if batch.runs == after and batch.max_runs is not None:
        batch.runs = min(batch.runs + batch.rounds[0], batch.max_runs)
        batch.rounds.append(batch.runs)


def _is_stuck(batch: Batch, entries: Sequence[IndexEntry]) -> bool:
    """Return whether no run of the last round could be judged: something is broken, and more runs would only cost."""
    if len(batch.rounds) < 2:
        return False
    last = range(batch.rounds[-2] + 1, batch.rounds[-1] + 1)
    return not any(entry.number in last and entry.outcome in (Outcome.PASSED, Outcome.FAILED) for entry in entries)
