"""The progress of evaluations on stderr, with a sign of life while calls are open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from salvo.cli.console import ProgressLine
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import is_set_within
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.retry import Wait
from salvo.playbooks.evaluate.runner import Event, OpenCalls

REFRESH_SECONDS = 1.0
SECONDS_BEFORE_SHOWN = 2
"""Calls that take no longer need no sign of life."""
MILESTONE_SECONDS = 60
"""Without a terminal, a line is printed each time that the oldest call has waited for so long."""
_NO_CALLS = OpenCalls(0, 0.0)


class EvaluationDisplay:
    """Shows the newest event of each evaluation, and otherwise how long the oldest open call has been waiting."""

    def __init__(self, line: ProgressLine, clock: Clock) -> None:
        self._line = line
        self._clock = clock
        self._evaluations: list[_EvaluationState] = []

    def listener(self, prefix: str, *, milestones: bool = True) -> Callable[[Event], None]:
        """Return what is called with the events of one evaluation. Its lines begin with the prefix.

        Without `milestones`, answers are shown on a terminal only.
        """
        state = _EvaluationState(prefix)
        self._evaluations.append(state)

        def on_event(event: Event) -> None:
            if isinstance(event, OpenCalls):
                state.calls = event
            elif isinstance(event, Wait):
                state.retry_at, state.wait = self._clock.monotonic() + event.seconds, str(event)
                self._line.update(f"{prefix}{state.progress} ({event})", milestone=milestones and event.seconds >= 1)
            else:
                state.progress = event.progress
                self._line.update(f"{prefix}{state.progress}", milestone=milestones)
                if state.retry_at > self._clock.monotonic():  # an answer to another call does not end the wait
                    self._line.update(f"{prefix}{state.progress} ({state.wait})")

        return on_event

    @asynccontextmanager
    async def refreshing(self) -> AsyncIterator[None]:
        """Refresh the line while this block runs."""
        stopped = asyncio.Event()

        async def refresh() -> None:
            while not await is_set_within(REFRESH_SECONDS, stopped):
                self.refresh()

        task = asyncio.create_task(refresh())
        try:
            yield
        finally:
            stopped.set()
            await task

    def refresh(self) -> None:
        """Show the call that has been waiting longest, unless a retry was announced."""
        now = self._clock.monotonic()
        waiting = [state for state in self._evaluations if state.calls.count and state.retry_at <= now]
        if not waiting:
            return
        state = min(waiting, key=lambda item: item.calls.oldest_start)
        seconds = int(now - state.calls.oldest_start)
        if seconds < SECONDS_BEFORE_SHOWN:
            return
        minutes = seconds // MILESTONE_SECONDS
        is_milestone = minutes > state.minutes_shown
        state.minutes_shown = minutes
        calls = pluralize(state.calls.count, "call")
        self._line.update(
            f"{state.prefix}{state.progress} (waiting for {calls}, the oldest for {seconds} s)", milestone=is_milestone
        )


@dataclass(slots=True)
class _EvaluationState:
    prefix: str
    progress: str = ""
    calls: OpenCalls = _NO_CALLS
    retry_at: float = 0.0
    """Until when an announced retry is shown, by the monotonic clock."""
    wait: str = ""
    minutes_shown: int = 0
