"""The order of a run's calls: which were answered before others were made, and whether a replay keeps that order.

Calls that overlap have no order of their own: which of them is made or answered first depends on timing. A program
imposes an order only where it makes a call after others were answered. So the calls of a run fall into phases: a phase
ends when every call made so far has been answered. A replay must make the calls of a phase after those of the phases
before it, in any order within the phase.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable

from salvo.engine.wire.base import CallSpan

_PATIENCE = 2.0
"""Seconds that a call waits for the calls of earlier phases. Calls that the program makes concurrently arrive long
before that; if they do not, the program waits for this call first."""


class CallCounter:
    """Counts the calls of a live run: requests to models and calls of tools."""

    def __init__(self) -> None:
        self._made = 0

    def start(self) -> CallSpan:
        span = CallSpan(self._made)
        self._made += 1
        return span

    def end(self, span: CallSpan) -> None:
        span.answered = self._made


class RecordedOrder:
    """The order of recorded calls, and which of them a replay has made so far."""

    def __init__(self, spans: Iterable[CallSpan | None]) -> None:
        """A span is None in a recording of an earlier version, which does not tell the order."""
        self._phases = _phases([span for span in spans if span is not None])
        self._missing = Counter(self._phases.values())
        self._first_missing = 0
        """The first phase of which a call is missing."""
        self._made = asyncio.Event()
        self.early: CallSpan | None = None
        """The first call that was made before calls that had been answered by then when it was recorded."""

    async def keep(self, span: CallSpan | None) -> None:
        """Note that a recorded call is made, and wait until the calls of all earlier phases are made as well."""
        if span is None or (phase := self._phases.get(span.made)) is None:
            return
        self._missing[phase] -= 1
        self._made.set()
        if self._is_early(phase):
            try:
                async with asyncio.timeout(_PATIENCE):
                    while self._is_early(phase):
                        self._made.clear()
                        await self._made.wait()
            except TimeoutError:
                self.early = span

    def _is_early(self, phase: int) -> bool:
        while self._first_missing < phase and self._missing[self._first_missing] <= 0:
            self._first_missing += 1
        return self._first_missing < phase and self.early is None


def _phases(spans: list[CallSpan]) -> dict[int, int]:
    """Return the phase of each call, by when it was made."""
    phases: dict[int, int] = {}
    phase = 0
    all_answered = 0.0  # how many calls had been made when all calls so far were answered
    for span in sorted(spans, key=lambda span: span.made):
        if phases and span.made >= all_answered:
            phase += 1
        phases[span.made] = phase
        all_answered = max(all_answered, math.inf if span.answered is None else span.answered)
    return phases
