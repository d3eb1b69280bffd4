"""Limited concurrency: a pool of jobs that starts no more once it is stopped or the budget is spent."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from salvo.engine.runtime.clock import SystemClock
from salvo.engine.text.formatting import exact_money
from salvo.records import record

T = TypeVar("T")


class Budget:
    """A limit on the cost. What has no known cost is counted in `unpriced`, not as 0.

    `on_unpriced` is called with the first thing that a limit cannot count.
    """

    def __init__(self, limit: float | None = None, on_unpriced: Callable[[str], None] | None = None) -> None:
        self.limit = limit
        self.spent = 0.0
        self.unpriced = 0
        self._on_unpriced = on_unpriced

    def spend(self, cost: float | None, name: str = "") -> None:
        if cost is not None:
            self.spent += cost
            return
        self.unpriced += 1
        if self.unpriced == 1 and self.limit is not None and self._on_unpriced is not None:
            self._on_unpriced(name)

    @property
    def exhausted(self) -> bool:
        return self.limit is not None and self.spent >= self.limit

    async def has_left(self, _is_stopped: Callable[[], bool]) -> bool:
        """Return whether more may be spent. One that is shared with others may wait for them, unless it is stopped."""
        return not self.exhausted

    async def settle(self) -> None:
        """Wait until those that share the budget know what was spent."""

    async def give_back(self) -> None:
        """Let those that share the budget have what is not spent: nothing will be for a while."""


@record
class PoolStopped:
    """Returned instead of the value of a job that never started or was cancelled, with the reason."""

    reason: str
    started: bool


class Pool:
    """Runs at most `limit` jobs at once, in the order of submission.

    `stop` lets running jobs finish and starts no more; `cancel` ends the running jobs too. The caller of a job that
    did not finish gets a PoolStopped, so the results of the other jobs are not lost.
    """

    def __init__(self, limit: int, budget: Budget | None = None, *, start: int | None = None) -> None:
        if limit < 1:
            raise ValueError(f"a pool must allow at least one job, not {limit}")
        self.limit = limit
        self.at_once = min(start or limit, limit)
        """How many jobs may run now; `grow` adds one, up to the limit."""
        self.budget = budget or Budget()
        self._slots = asyncio.Semaphore(self.at_once)
        self._running: set[asyncio.Future[Any]] = set()
        self._stopped = ""
        self._cancelled = ""

    def grow(self) -> None:
        """Allow one more job at once, if the limit permits and all that are allowed now are running."""
        if self.at_once < self.limit and len(self._running) >= self.at_once:
            self.at_once += 1
            self._slots.release()

    def stop(self, reason: str) -> None:
        """Start no more jobs. The first reason counts."""
        self._stopped = self._stopped or reason

    def cancel(self, reason: str) -> None:
        """Start no more jobs and cancel the running ones, which get this reason."""
        self.stop(reason)
        self._cancelled = self._cancelled or reason
        for job in self._running:
            job.cancel()

    @property
    def is_stopped(self) -> bool:
        """Whether no more jobs are started."""
        return bool(self._stopped)

    @property
    def is_cancelled(self) -> bool:
        return bool(self._cancelled)

    async def run(self, job: Callable[[], Awaitable[T]]) -> T | PoolStopped:
        """Wait for a free slot, run the job and return its value. Exceptions of the job are raised here."""
        async with self._slots:
            if self.budget.limit is not None and not await self.budget.has_left(lambda: self.is_stopped):
                self.stop(f"the budget of {exact_money(self.budget.limit)} is spent")
            if self._stopped:
                return PoolStopped(self._stopped, started=False)
            running = asyncio.ensure_future(job())
            self._running.add(running)
            try:
                return await running
            except asyncio.CancelledError:
                task = asyncio.current_task()
                # If the caller itself was cancelled, the cancellation must go on.
                if not self._cancelled or (task is not None and task.cancelling()):
                    raise
                return PoolStopped(self._cancelled, started=True)
            finally:
                self._running.discard(running)


async def gather(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all jobs at once and return their values in order. The first error cancels the others and is raised."""
    coroutines = list(jobs)
    if len(coroutines) == 1:  # the most common case needs no task
        return [await coroutines[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in coroutines]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


async def call_blocking(function: Callable[..., T], *arguments: Any, in_thread: bool) -> T:
    """Call a function that blocks, in a thread if it takes long enough for other tasks to go on meanwhile.

    It is completed even if this task is cancelled. Then its value is returned, and the cancellation has no effect: the
    caller ends as if it had ended a moment earlier.
    """
    if not in_thread:
        return function(*arguments)
    task = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.done():
                raise
            if (current := asyncio.current_task()) is not None:
                current.uncancel()


TERMINATED = "SIGTERM was received"
_REACTION_SECONDS = 1.0
"""A second signal within this time is not a second request: `timeout` sends each signal twice."""


@contextmanager
def cancel_on_interrupt(pool: Pool, reason: str) -> Iterator[None]:
    """Cancel the jobs of the pool on Ctrl-C, instead of raising KeyboardInterrupt, and on SIGTERM, instead of ending.

    The reason is for Ctrl-C; for SIGTERM it is TERMINATED. If the loop has not reacted to a signal after a second,
    because a user's code blocks it and catches every exception, the next signal ends the process. Outside the main
    thread, where no signal arrives, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    clock = SystemClock()
    reasons: dict[int, str] = {signal.SIGINT: reason, signal.SIGTERM: TERMINATED}
    unanswered_since: float | None = None  # when the first signal arrived to which the loop has not reacted

    def cancel(number: int) -> None:
        nonlocal unanswered_since
        unanswered_since = None
        pool.cancel(reasons[number])

    def interrupt(number: int, _frame: object) -> None:
        nonlocal unanswered_since
        now = clock.monotonic()
        if unanswered_since is None:
            unanswered_since = now
        elif now - unanswered_since > _REACTION_SECONDS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        # Not at once: a job that is just finishing would count as cancelled after it was stored.
        loop.call_soon_threadsafe(cancel, number)

    previous = {number: signal.signal(number, interrupt) for number in reasons}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


async def is_set_within(seconds: float, flag: asyncio.Event) -> bool:
    """Wait until the event is set, for so many seconds at most. Return whether it is."""
    try:
        async with asyncio.timeout(seconds):
            return await flag.wait()
    except TimeoutError:
        return False
