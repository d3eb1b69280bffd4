"""One adaptive rate for shards that share a store (`-j auto` with `--shard`).

    rates/{command_id}/{session_id}.json    how fast each worker of a shard sends, written again twice a second

Each shard reads what the others write, and gives its workers their equal shares of what all workers of all shards may
send. A shard whose object has not changed for a while has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.rates.rate_shares import RateState, equal_shares
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import call_blocking, is_set_within
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.stored_file import parse_stored

_SECONDS_BETWEEN_LOOKS = 0.5
_SHORTEST_WAIT = 0.1
_GONE_AFTER = 20.0
"""Seconds without a change after which a shard counts no more."""


@record
class ShardRates:
    """What the object of a shard holds."""

    workers: list[list[list[Any]]]
    """For each worker the states of the models that it limits, as `RateState.as_plain` returns them."""
    written_at: str
    """By the clock of the shard's machine, which may be wrong."""


@dataclass(slots=True)
class _Seen:
    version: str
    workers: list[list[RateState]]
    changed_at: float
    """When they were true, by the monotonic clock of this process."""


class RateExchange:
    def __init__(self, storage: Storage, command_id: str, session_id: str, clock: Clock) -> None:
        self._storage = storage
        self._folder = f"rates/{command_id}"
        self._name = f"{session_id}.json"
        self._clock = clock
        self._others: dict[str, _Seen] = {}
        self._looked_at = clock.monotonic()
        self._is_awake = asyncio.Event()

    def wake(self) -> None:
        """Tell the others at once: a worker was refused a call, so they send too much as well."""
        self._is_awake.set()

    @asynccontextmanager
    async def opened(
        self, own: Callable[[], list[list[RateState]]], on_change: Callable[[], None]
    ) -> AsyncIterator[None]:
        """Exchange the rates of this shard's workers with those of the others in this block."""
        task = asyncio.create_task(self._keep_exchanging(own, on_change))
        try:
            yield
        finally:
            task.cancel()
            with suppress(StoreError):  # then the others wait until it is too old
                await self._in_thread(self._storage.delete, f"{self._folder}/{self._name}")

    def shares(self, own: Sequence[Sequence[RateState]]) -> tuple[list[RateState], int]:
        """Return the share of each worker in what all shards may send, and how many workers there are."""
        now = self._clock.monotonic()
        others = [
            [state.after(now - other.changed_at) for state in states]
            for other in self._others.values()
            for states in other.workers
        ]
        return equal_shares([*own, *others]), len(own) + len(others)

    async def _keep_exchanging(self, own: Callable[[], list[list[RateState]]], on_change: Callable[[], None]) -> None:
        while True:
            states = [[state.as_plain() for state in worker] for worker in own()]
            with suppress(StoreError):  # each shard goes on with what it knows
                await self._in_thread(self._exchange, ShardRates(states, self._clock.now().isoformat()))
                on_change()
            self._is_awake.clear()
            await asyncio.sleep(_SHORTEST_WAIT)
            await is_set_within(_SECONDS_BETWEEN_LOOKS - _SHORTEST_WAIT, self._is_awake)

    def _exchange(self, own: ShardRates) -> None:
        self._storage.put(f"{self._folder}/{self._name}", json_codec.dumps(own))
        before, self._looked_at = self._looked_at, self._clock.monotonic()
        others: dict[str, _Seen] = {}
        for item in self._storage.list(self._folder):
            if item.name == self._name:
                continue
            known = self._others.get(item.name)
            if known is None or known.version != item.version:
                known = self._read(item.name, item.version, longest=self._looked_at - before)
            if known is not None and self._looked_at - known.changed_at < _GONE_AFTER:
                others[item.name] = known
        self._others = others

    def _read(self, name: str, version: str, longest: float) -> _Seen | None:
        """Return what another shard wrote since the last look, so many seconds ago at the longest."""
        key = f"{self._folder}/{name}"
        try:
            stored = parse_stored(self._storage.get(key), ShardRates, self._storage.describe(key))
            workers = [[RateState.from_plain(state) for state in worker] for worker in stored.workers]
            written_at = datetime.fromisoformat(stored.written_at)
            age = (self._clock.now() - written_at).total_seconds()
        except (FileNotFoundError, ValueError, TypeError, StoreError):
            return None
        return _Seen(version, workers, self._clock.monotonic() - min(max(age, 0.0), longest))

    async def _in_thread(self, function: Callable[..., None], *arguments: object) -> None:
        await call_blocking(function, *arguments, in_thread=self._storage.is_shared)
