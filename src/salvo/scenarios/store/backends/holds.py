"""What a process holds of the batches of a store, by leases: whole batches, or some of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from salvo.engine.runtime.clock import SystemClock
from salvo.errors import UsageError
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.backends.leases import EXPIRY, Leases
from salvo.scenarios.store.backends.number_ranges import ALL_RUNS
from salvo.scenarios.store.ids import describe_work


class BatchHolds:
    """Holds whole batches for this process. It may hold a batch again that it holds."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.leases: Leases | None = None
        """While something is held by leases."""
        self._held: set[str] = set()

    @contextmanager
    def hold(self, batch_ids: Iterable[str], now: str) -> Iterator[None]:
        """Hold all runs of these batches in a block. Raise UsageError with the holder if another process has some."""
        new = [batch_id for batch_id in batch_ids if batch_id not in self._held]
        try:
            for batch_id in new:
                self._claim(batch_id, now)
                self._held.add(batch_id)
            yield
        finally:
            self._release(new)

    @contextmanager
    def hold_runs(self, requested: Mapping[str, Sequence[int]], now: str) -> Iterator[dict[str, list[int]]]:
        """Hold these runs of batches in a block, without those that other processes have. Yield what is held.

        Raise UsageError if others have all of a batch that are wanted.
        """
        new = [batch_id for batch_id in requested if batch_id not in self._held]
        granted = {batch_id: list(numbers) for batch_id, numbers in requested.items() if batch_id not in new}
        try:
            for batch_id in new:
                self._held.add(batch_id)
                leases = self._started(now)
                granted[batch_id] = leases.claim(batch_id, requested[batch_id]) if requested[batch_id] else []
                if requested[batch_id] and not granted[batch_id]:
                    raise self._held_by_others(leases, batch_id)
            yield granted
        finally:
            self._release(new)

    def is_valid(self) -> bool:
        """Return whether everything that is held still belongs to this process."""
        return self.leases is None or self.leases.holds()

    def _claim(self, batch_id: str, now: str) -> None:
        leases = self._started(now)
        if leases.claim_ranges(batch_id, list(ALL_RUNS)) != list(ALL_RUNS):
            raise self._held_by_others(leases, batch_id)

    def _started(self, now: str) -> Leases:
        if self.leases is None:
            self.leases = Leases(self._storage, SystemClock(), now)
            self.leases.start()
        return self.leases

    def _held_by_others(self, leases: Leases, batch_id: str) -> UsageError:
        holder = next((holder for holder, _ in leases.held_by_others(batch_id)), None)
        leases.release(batch_id)
        return UsageError(
            f"{describe_work(batch_id)} by {holder or 'another process'}.",
            hint=f"Wait until that has ended, or end it; {EXPIRY:.0f} s after a crash its runs are free. "
            "Nothing was run, and nothing was spent.",
        )

    def _release(self, batch_ids: Iterable[str]) -> None:
        self._held.difference_update(batch_ids)
        if self.leases is not None and not self._held:
            self.leases.close()
            self.leases = None
