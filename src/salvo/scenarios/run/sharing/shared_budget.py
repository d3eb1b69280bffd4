"""The budget of a shard: a share of what all shards of a batch may spend together (`--max-cost` with `--shard`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from salvo.engine.runtime.pool import Budget, call_blocking
from salvo.errors import StoreError
from salvo.scenarios.run.sharing.budget_ledger import BudgetLedger

_SECONDS_BETWEEN_REPORTS = 1.0
_SECONDS_BETWEEN_DRAWS = 1.0
"""While the others have money that they may return."""


class SharedBudget(Budget):
    """Methods that reach the store raise StoreError."""

    def __init__(
        self, limit: float, on_unpriced: Callable[[str], None], ledger: BudgetLedger, *, in_thread: bool
    ) -> None:
        """`in_thread` says whether the store takes so long that other runs should go on meanwhile."""
        super().__init__(limit, on_unpriced)
        self._ledger = ledger
        self._in_thread = in_thread
        self._granted = 0.0
        self._reported = 0.0
        self._drawing = asyncio.Lock()
        self._reporting = asyncio.Lock()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Report what is spent every second in this block, and return the rest of the share at its end."""
        task = asyncio.create_task(self._keep_reporting())
        try:
            yield
        finally:
            task.cancel()
            with suppress(StoreError):  # then it counts as spent until this session has expired
                await self.settle()
                await call_blocking(self._ledger.close, self.spent, in_thread=self._in_thread)

    async def has_left(self, is_stopped: Callable[[], bool]) -> bool:
        async with self._drawing:  # others wait for the share that the first of them draws
            while self.spent >= self._granted and not is_stopped():
                await self.settle()
                grant = await call_blocking(self._ledger.draw, self.spent, in_thread=self._in_thread)
                self._granted = grant.total
                if self.spent >= self._granted:
                    if not grant.may_grow:
                        return False
                    await asyncio.sleep(_SECONDS_BETWEEN_DRAWS)
        return True

    async def settle(self) -> None:
        async with self._reporting:  # those that waited find that theirs was reported
            if (spent := self.spent) != self._reported:
                await call_blocking(self._ledger.report, spent, in_thread=self._in_thread)
                self._reported = spent

    async def give_back(self) -> None:
        async with self._drawing:
            if self._granted > self.spent:
                await self.settle()
                self._granted = self.spent
                await call_blocking(self._ledger.give_back, self.spent, in_thread=self._in_thread)

    async def _keep_reporting(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_REPORTS)
            with suppress(StoreError):  # the next run that is stored says so
                await self.settle()
