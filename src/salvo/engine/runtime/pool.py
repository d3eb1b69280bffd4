"""Bounded concurrency: so many jobs at once, nothing new once it is stopped or the money is spent."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class Budget:
    """Money that may be spent. It counts what is known; calls of unknown cost are counted apart, not as 0."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.spent = 0.0
        self.unpriced = 0

    def spend(self, cost: float | None) -> None:
        if cost is None:
            self.unpriced += 1
        else:
            self.spent += cost

    @property
    def exhausted(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


@dataclass(frozen=True, slots=True)
class PoolStopped:
    """Instead of a job's value: it never started, or it was cancelled in the middle, and why."""

    reason: str
    started: bool


class Pool:
    """Runs jobs, at most `limit` at once, in the order they were handed in.

    `stop` lets the running ones finish and starts no more; `cancel` ends those too. Either way each caller gets
    a Stopped for a job that did not finish, so that what did finish is never lost with what did not.
    """

    def __init__(self, limit: int, budget: Budget | None = None) -> None:
        if limit < 1:
            raise ValueError(f"a pool needs room for at least one job, not {limit}")
        self.limit = limit
        self.budget = budget or Budget()
        self._slots = asyncio.Semaphore(limit)
        self._running: set[asyncio.Future[Any]] = set()
        self._stopped = ""
        self._cancelled = ""

    def stop(self, reason: str) -> None:
        """Starts nothing new. The first reason given is the one that is told."""
        self._stopped = self._stopped or reason

    def cancel(self, reason: str) -> None:
        """Starts nothing new and ends what runs; that is told this reason, whatever had stopped the others before."""
        self.stop(reason)
        self._cancelled = self._cancelled or reason
        for job in self._running:
            job.cancel()

    @property
    def is_cancelled(self) -> bool:
        return bool(self._cancelled)

    async def run(self, job: Callable[[], Awaitable[T]]) -> T | PoolStopped:
        """The job's value, once there was room for it. What the job raises is raised here."""
        async with self._slots:
            if self.budget.exhausted:
                self.stop(f"the budget of ${self.budget.limit:g} is spent")
            if self._stopped:
                return PoolStopped(self._stopped, started=False)
            running = asyncio.ensure_future(job())
            self._running.add(running)
            try:
                return await running
            except asyncio.CancelledError:
                task = asyncio.current_task()
                # Cancelled from outside means that the caller wants to end, too; that is not ours to swallow.
                if not self._cancelled or (task is not None and task.cancelling()):
                    raise
                return PoolStopped(self._cancelled, started=True)
            finally:
                self._running.discard(running)


async def gather(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once, their values in the order given; the first to fail ends the others and is raised as itself."""
    waiting = list(jobs)
    if len(waiting) == 1:  # as most often: a group and a task for it would only cost
        return [await waiting[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in waiting]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


@contextmanager
def cancel_on_interrupt(pool: Pool, reason: str) -> Iterator[None]:
    """Cancel the jobs of the pool when Ctrl-C is pressed, instead of raising KeyboardInterrupt.

    Outside the main thread, where no signal arrives, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def interrupt(_signal: int, _frame: object) -> None:
        # Not at once: a job that is just finishing would count as cancelled after it was stored.
        loop.call_soon_threadsafe(pool.cancel, reason)

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
