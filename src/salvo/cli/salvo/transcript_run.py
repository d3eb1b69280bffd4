"""Evaluating stored transcripts on the command line, with a progress line: for `salvo judge` and `salvo score`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from salvo.cli.console import ProgressLine, unpriced_notice
from salvo.engine.runtime.pool import Budget, Pool, PoolStopped, cancel_on_interrupt
from salvo.engine.text.formatting import running_cost
from salvo.engine.wire import http_wire
from salvo.engine.wire.base import HttpOptions
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.scenarios.run.call_limits import CallLimits
from salvo.scenarios.run.runner import INTERRUPTED
from salvo.scenarios.run.transcripts import TranscriptSession
from salvo.scenarios.workspace import Workspace

OnDone: TypeAlias = Callable[[float | None], None]
"""Is called with the cost of each transcript that was evaluated, None where it is not known."""


class TranscriptRun:
    """The evaluation of so many transcripts, which `what` names: "judgings". `verb` says what was done to each.

    It is "prepared" if the votes come later.
    """

    def __init__(
        self,
        workspace: Workspace,
        what: str,
        total: int,
        concurrency: int,
        max_cost: float | None,
        verb: str = "done",
    ) -> None:
        self._workspace = workspace
        self._what = what
        self._verb = verb
        self._total = total
        self._finished = 0
        self._cost = 0.0
        self._progress = ProgressLine()
        self._concurrency = concurrency
        self._max_cost = max_cost
        self.interrupted = False

    def print(self, line: str) -> None:
        self._progress.print(line)

    async def run(
        self, evaluate: Callable[[TranscriptSession, OnDone], Awaitable[list[PoolStopped]]]
    ) -> list[PoolStopped]:
        """Open the connections, evaluate, and return what was stopped."""
        workspace = self._workspace
        redactor, clock = workspace.redactor(), workspace.clock
        budget = Budget(self._max_cost, lambda name: self.print(unpriced_notice(name)))
        pool = Pool(self._concurrency, budget)
        limits = workspace.call_limits.over(CallLimits.from_environ(workspace.environ))
        async with http_wire(workspace.all_endpoints(), redactor, clock, HttpOptions(limits.timeouts())) as wire:
            retrying = RetryingWire(wire, policy=limits.retry_policy(), clock=clock, listener=self._waiting)
            session = TranscriptSession(retrying, redactor, clock, pool, workspace.price_book())
            try:
                with cancel_on_interrupt(pool, INTERRUPTED):
                    stopped = await evaluate(session, self._count_one)
            finally:
                self._progress.clear()
        self.interrupted = pool.is_cancelled
        return stopped

    def _count_one(self, cost: float | None) -> None:
        self._finished += 1
        self._cost += cost or 0.0
        tenth = max(1, self._total // 10)
        self._update(milestone=self._finished % tenth == 0 or self._finished == self._total)

    def _waiting(self, wait: Wait) -> None:
        self._update(f" ({wait})", milestone=wait.seconds >= 1)

    def _update(self, note: str = "", *, milestone: bool) -> None:
        spent = f", {running_cost(self._cost)}" if self._cost else ""
        text = f"{self._finished}/{self._total} {self._what} {self._verb}{spent}{note}"
        self._progress.update(text, milestone=milestone)
