"""Evaluate stored transcripts: only judges are called, over one pool with its budget. `salvo judge` and `salvo score`
stand on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from functools import partial
from typing import TypeVar

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.pricing import PriceBook
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.run.journal import Journal

Item = TypeVar("Item")
_NOT_STORED = "results cannot be stored"


@record
class TranscriptSession:
    """What all transcripts of a command share."""

    wire: Wire
    redactor: Redactor
    clock: Clock
    pool: Pool
    price_book: PriceBook = field(default_factory=PriceBook)
    registry: Registry = field(default_factory=builtin_registry)

    def journal(self) -> Journal:
        return Journal(self.clock, spend=self.pool.budget.spend, price_book=self.price_book)

    async def evaluate_each(
        self, items: Sequence[Item], evaluate: Callable[[Item], Awaitable[None]]
    ) -> list[PoolStopped]:
        """Evaluate and store each item, as many at once as the pool allows. Return what was stopped."""
        waiting = iter(items)
        stopped: list[PoolStopped] = []

        async def worker() -> None:
            for item in waiting:
                outcome = await self.pool.run(partial(self._once, evaluate, item))
                if isinstance(outcome, PoolStopped):
                    stopped.append(outcome)

        await gather(worker() for _ in range(min(self.pool.limit, len(items))))
        return stopped

    async def _once(self, evaluate: Callable[[Item], Awaitable[None]], item: Item) -> None:
        try:
            await evaluate(item)
        except StoreError:
            self.pool.stop(_NOT_STORED)  # do not pay for what cannot be stored
            raise
