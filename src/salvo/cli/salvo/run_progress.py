"""The progress of `salvo run` while its runs are made: a line that is updated, and notices above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from salvo.cli.console import ProgressLine, unpriced_notice
from salvo.engine.text.formatting import pluralize, running_cost
from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire.retry import Wait
from salvo.errors import StoreError
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.executors.base import ReplayNote
from salvo.scenarios.run.runner import RunListener
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.recordings.recording_files import HASHES_ONLY, OWN_CONNECTIONS

if TYPE_CHECKING:
    from salvo.engine.rates.rate_shares import RateState


_SECONDS_BEFORE_SHOWN = 2
"""Calls that take no longer need no sign of life."""
_MILESTONE_SECONDS = 60
"""Without a terminal, a line is printed each time that the oldest call has waited for so long."""


def _format_rate(calls_per_second: float) -> str:
    if calls_per_second >= 1:
        return f"{calls_per_second:.0f} calls/s"
    return f"{60 * calls_per_second:.0f} calls/min"


class RunProgress(RunListener):
    """Shows how many runs are done, how many passed, what they cost, and how long calls have been open."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        self._total = self._done = self._passed = self._pending = self._cached = self._minutes_shown = 0
        self._not_replayable: Counter[tuple[str, str, str]] = Counter()
        self._cost = 0.0
        self._at_once = self._rates = ""
        self._blocked_at: set[str] = set()
        self._destinations: set[str] = set()

    def planned(self, count: int) -> None:
        self._total += count

    def started(self, _prepared: PreparedScenario, _number: int) -> None:
        self._update()

    def waiting(self, wait: Wait) -> None:
        self._update(f" ({wait})", milestone=wait.seconds >= 1)

    def calling(self, count: int, seconds: float) -> None:
        minutes = int(seconds // _MILESTONE_SECONDS)
        is_milestone = minutes > self._minutes_shown
        self._minutes_shown = minutes
        if seconds >= _SECONDS_BEFORE_SHOWN:
            calls = pluralize(count, "call")
            self._update(f" (waiting for {calls}, the oldest for {seconds:.0f} s)", milestone=is_milestone)

    def blocked(self, seconds: float, where: str) -> None:
        if where not in self._blocked_at:
            self._blocked_at.add(where)
            self.line.print(
                f"The event loop was blocked for {seconds:.0f} s at {where}. Other runs had to wait; this time is not "
                "counted as theirs."
            )

    def grown(self, at_once: int) -> None:
        self._at_once = f", {at_once} at once"

    def paced(self, rates: Sequence[RateState]) -> None:
        self._rates = "".join(f", {printable(state.name)} {_format_rate(state.rate)}" for state in rates)

    def unpriced(self, name: str) -> None:
        self.line.print(unpriced_notice(name))

    def cache_failed(self, error: StoreError) -> None:
        self.line.print(f"New replies are not cached. {error}")

    def relisted(self, batch: Batch, server: str, earlier: str, changes: Sequence[str]) -> None:
        self.line.print(
            f"{batch.scenario_id}: the MCP server {server} lists other tools than in the batch {earlier}: "
            f"{', '.join(changes)}."
        )

    def connected(self, destinations: Iterable[str]) -> None:
        for line in destinations:
            if line not in self._destinations:
                self._destinations.add(line)
                self.line.print(line)

    def worker_lost(self, reason: str, run_ids: Sequence[str]) -> None:
        self.line.print(lost_worker_notice(reason, run_ids))

    def made_again(self, run_ids: Sequence[str]) -> None:
        count = pluralize(len(run_ids), "run")
        self.line.print(
            f"An earlier command ended while it was making {count}, which are made again; "
            f"calls that they had made may be paid for twice: {', '.join(run_ids)}"
        )

    def finished(self, _prepared: PreparedScenario, entry: IndexEntry, replay: ReplayNote) -> None:
        self._count_if_not_replayable(entry, replay)
        self._done += 1
        self._passed += entry.outcome is Outcome.PASSED
        self._pending += entry.outcome is Outcome.PENDING
        if entry.from_cache:
            self._cached += 1  # what it cost was paid before, at least in part
        else:
            self._cost += (entry.cost or 0.0) + (entry.judge_cost or 0.0) + (entry.user_cost or 0.0)
        tenth = max(1, self._total // 10)
        self._update(milestone=self._done % tenth == 0 or self._done == self._total)

    def close(self) -> None:
        """Clear the line, and print what is to be said in the end."""
        self.line.clear()
        for notice in self.replay_notices():
            self.line.print(notice)

    def replay_notices(self) -> Iterator[str]:
        """Yield which recordings will not replay, and why."""
        for (scenario, problem, reason), count in self._not_replayable.items():
            yield f"{printable(scenario)}: {pluralize(count, 'recorded run')} {problem}: {printable(reason)}"

    def _count_if_not_replayable(self, entry: IndexEntry, replay: ReplayNote) -> None:
        if not entry.recorded or replay.reason == HASHES_ONLY:  # the user asked for hashes
            return
        if replay.replayable == "no":
            self._not_replayable[entry.scenario_id, "cannot be replayed", replay.reason] += 1
        elif OWN_CONNECTIONS in replay.reason:
            self._not_replayable[entry.scenario_id, "may diverge in a replay", replay.reason] += 1

    def _update(self, note: str = "", *, milestone: bool = False) -> None:
        cost = f", {running_cost(self._cost)}" if self._cost else ""
        cost += f", {self._cached} from the cache" if self._cached else ""
        counts = f"{self._done}/{self._total} runs done, {self._passed} passed"
        counts += f", {self._pending} waiting for judges" if self._pending else ""
        text = f"{counts}{cost}{self._at_once}{self._rates}{note}"
        self.line.update(text, milestone=milestone)


def lost_worker_notice(reason: str, run_ids: Sequence[str]) -> str:
    """Say which runs were under way when a worker ended: their calls may be paid for twice."""
    if not run_ids:
        return f"A worker ended: {reason}. No run has to be made again."
    runs = pluralize(len(run_ids), "run")
    return (
        f"A worker ended: {reason}. It was making {runs}, which are made again if they are not stored; "
        f"calls that they had made may be paid for twice: {', '.join(run_ids)}"
    )
