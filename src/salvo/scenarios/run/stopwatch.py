"""The time of a run: what counts as the agent's own, and what happens when it is over.

The agent's timeout ends a run. But a provider that hangs is not the agent's fault: if a call is under way when the time
is over, the run goes on until that call ends. If the call fails, the provider is at fault, otherwise the agent is late.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.event_loop import watched_loop
from salvo.engine.wire.base import Timeouts, Wire, WireReply, WireRequest
from salvo.engine.wire.retry import Wait
from salvo.errors import OverloadedError, ProviderError, UsageError, WireError

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


class Stopwatch:
    """Measures the agent's own time, and answers for it if it blocks the event loop.

    Not part of it: tries of a call that failed, the waits between tries, and time in which another run blocks the loop.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._loop = watched_loop()
        self._loop_blocked_before = self._loop_blocked()
        self.blocked = 0.0
        """For how long the agent blocked the event loop, in seconds."""
        self.blocked_at = ""
        """Where in the code."""
        self._excluded = 0.0
        self._excluded_until = self._started
        self._pauses = 0
        self._paused_at = self._started
        self._blocked_before_pause = 0.0
        self._limit = 0.0
        self._timeout: asyncio.Timeout | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._open_calls = 0
        self.is_overdue = False
        """Whether the agent's time is over, and a call is still under way."""
        self.is_expired = False
        """Whether the run was ended because the agent's time is over."""
        self.fault: ProviderError | None = None
        """Why the last call failed, if the run was ended by that."""
        self.has_ended = False

    def seconds(self) -> float:
        by_others = self._loop_blocked() - self._loop_blocked_before - self.blocked
        return self._clock.monotonic() - self._started - self._excluded - self._open_pause() - by_others

    def blocking(self, seconds: float, where: str) -> bool:
        """Count the time in which the agent blocks the loop, in the thread that watches. Return whether it is over."""
        self.blocked += seconds
        self.blocked_at = where
        return self.has_ended or (self._timeout is not None and self.seconds() > self._limit)

    def unblocked(self) -> None:
        if self._timer is not None and self._timeout is not None:
            self._timer.cancel()
            self._check()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time of this block, in which the agent waits for its user, or for its turn to send a call."""
        self._exclude_pause()
        self._pauses += 1
        self._start_pause()
        try:
            yield
        finally:
            self._exclude_pause()
            self._pauses -= 1

    def _start_pause(self) -> None:
        self._paused_at = self._clock.monotonic()
        self._blocked_before_pause = self._loop_blocked()

    def _open_pause(self) -> float:
        """Return how long the pause that is under way has lasted, without what is excluded already."""
        if not self._pauses:
            return 0.0
        pause = self._clock.monotonic() - max(self._paused_at, self._excluded_until)
        return max(0.0, pause - (self._loop_blocked() - self._blocked_before_pause))

    def _exclude_pause(self) -> None:
        """Exclude the pause that is under way, if there is one, up to now."""
        if self._pauses:
            self._excluded += self._open_pause()
            self._start_pause()
            self._excluded_until = max(self._excluded_until, self._paused_at)

    def exclude(self, wait: Wait) -> None:
        """Exclude a failed try and the wait after it. Time in which several calls wait is excluded only once."""
        self._exclude_pause()
        now = self._clock.monotonic()
        until = max(now + wait.seconds, self._excluded_until)
        self._excluded += until - max(now - wait.lost, self._excluded_until)
        self._excluded_until = until

    @asynccontextmanager
    async def limited_to(self, seconds: float) -> AsyncIterator[None]:
        """Raise TimeoutError in this block when the agent has taken longer. It ends only once."""
        self._limit = seconds
        try:
            async with asyncio.timeout(None) as self._timeout:
                self._set_timer(seconds)
                yield
        finally:
            self.has_ended = True
            self._timeout = None
            if self._timer is not None:
                self._timer.cancel()
        if (
            self.is_expired or self.seconds() > seconds
        ):  # it went on although it was cancelled, or never let us cancel it
            self.is_expired = True
            raise TimeoutError

    def call_started(self) -> None:
        self._open_calls += 1

    def call_ended(self, fault: ProviderError | None) -> None:
        self._open_calls -= 1
        if self.is_overdue and (fault is not None or not self._open_calls):
            self.fault = self.fault or fault
            self._expire()

    def _loop_blocked(self) -> float:
        return 0.0 if self._loop is None else self._loop.seconds_blocked

    def _set_timer(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._check)

    def _check(self) -> None:
        remaining = self._limit - self.seconds()
        if remaining > 0:  # something was excluded in the meantime
            self._set_timer(remaining)
        elif self._open_calls:
            self.is_overdue = True
        else:
            self._expire()

    def _expire(self) -> None:
        if self._timeout is not None and not self.is_expired:
            self.is_expired = True
            self._timeout.reschedule(asyncio.get_running_loop().time())


class PendingCalls:
    """The calls of all agents that are under way, for the progress line."""

    def __init__(self) -> None:
        self._starts: dict[int, float] = {}
        self._number = 0

    def started(self, now: float) -> int:
        self._number += 1
        self._starts[self._number] = now
        return self._number

    def ended(self, number: int) -> None:
        del self._starts[number]

    @property
    def count(self) -> int:
        return len(self._starts)

    @property
    def oldest_start(self) -> float | None:
        """When the oldest call was started, by the monotonic clock."""
        return next(iter(self._starts.values()), None)


class AgentWire:
    """The wire of an agent: each call has its limits, and after the end of the run nothing is sent."""

    def __init__(
        self, inner: Wire, stopwatch: Stopwatch, timeouts: Timeouts, open_calls: PendingCalls, clock: Clock
    ) -> None:
        self._inner = inner
        self._stopwatch = stopwatch
        self._timeouts = timeouts
        self._open_calls = open_calls
        self._clock = clock

    async def send(self, request: WireRequest) -> WireReply:
        stopwatch = self._stopwatch
        if stopwatch.has_ended:
            raise UsageError("The run has ended, so nothing is sent for it.")
        stopwatch.call_started()
        number = self._open_calls.started(self._clock.monotonic())
        fault: ProviderError | None = None
        try:
            reply = await self._inner.send(replace(request, timeouts=self._timeouts))
        except WireError as error:
            fault = error
            raise
        else:
            if reply.status >= _SERVER_ERROR or reply.status == _TOO_MANY_REQUESTS:
                fault = OverloadedError(f"{request.endpoint} answered {reply.status}.", status=reply.status)
            return reply
        finally:
            self._open_calls.ended(number)
            stopwatch.call_ended(fault)
