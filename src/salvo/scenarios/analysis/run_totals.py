"""What the entries of a batch add up to, in one pass: there may be 100,000, which are not in memory at once. Pure."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from salvo.scenarios.result import Cause, Outcome
from salvo.scenarios.store.index import IndexEntry

_COMPLETED = (Outcome.PASSED, Outcome.FAILED)
_NOT_MADE = (Outcome.NOT_RUN, Outcome.INTERRUPTED)


class AssertionKey(NamedTuple):
    label: str
    type: str
    required: bool
    occurrence: int
    """Assertions that look the same are distinguished by their order."""


class CostTotal:
    """Costs in one field of the entries. `unfinished` are runs that also cost what no entry has."""

    def __init__(self, unfinished: Iterable[int] = ()) -> None:
        self.total = 0.0
        """Of all runs that were started, as far as it is known."""
        self._unfinished = {*unfinished}
        self.unknown = len(self._unfinished)
        """How many runs there are whose cost is not known."""
        self.completed = 0.0
        self.completed_unknown = 0

    def add(self, number: int, cost: float | None, *, is_completed: bool) -> None:
        self.total += cost or 0.0
        if is_completed:
            self.completed += cost or 0.0
            self.completed_unknown += cost is None
        if cost is None and number not in self._unfinished:
            self.unknown += 1


class RunTotals:
    def __init__(self, entries: Iterable[IndexEntry], unfinished: Iterable[int] = ()) -> None:
        """`unfinished` are runs whose agents also cost what no entry has."""
        self.counts: Counter[Outcome] = Counter()
        self.independent: Counter[Outcome] = Counter()
        """The completed runs that were not answered from a cache."""
        self.scores = array("d")
        self.latencies = array("d")
        self.turns = array("q")
        self.savings = array("d")
        self.costs = {"cost": CostTotal(unfinished), "judge_cost": CostTotal(), "user_cost": CostTotal()}
        self.failed: list[IndexEntry] = []
        self.errors: list[IndexEntry] = []
        self.not_made: list[IndexEntry] = []
        self.assertions: defaultdict[AssertionKey, Counter[bool | None]] = defaultdict(Counter)
        """In the order of the scenario. A run that was stopped has none."""
        self.tolerated: Counter[AssertionKey] = Counter()
        self._hashes = array("q")
        for entry in entries:
            self._add(entry)

    def _add(self, entry: IndexEntry) -> None:
        outcome = entry.outcome
        self.counts[outcome] += 1
        is_completed = outcome in _COMPLETED
        if outcome is not Outcome.NOT_RUN:
            for name, total in self.costs.items():
                total.add(entry.number, getattr(entry, name), is_completed=is_completed)
        if entry.cache_saving is not None and not entry.from_cache:
            self.savings.append(entry.cache_saving)  # what a run from the cache of `--cache` saved was saved before
        self._add_assertions(entry)
        if is_completed:
            self._add_completed(entry)
        elif outcome is Outcome.ERROR:
            self.errors.append(entry)
        elif outcome in _NOT_MADE:
            self.not_made.append(entry)

    def _add_completed(self, entry: IndexEntry) -> None:
        if entry.outcome is Outcome.FAILED:
            self.failed.append(entry)
        if entry.score is not None:
            self.scores.append(entry.score)
        self.latencies.append(entry.latency)
        if entry.turns:
            self.turns.append(entry.turns)
        if not entry.from_cache:
            self.independent[entry.outcome] += 1
            if entry.content_hash:
                self._hashes.append(hash(entry.content_hash))

    def _add_assertions(self, entry: IndexEntry) -> None:
        occurrences: Counter[tuple[str, str, bool]] = Counter()
        for judged in entry.assertions:
            same = (judged.label, judged.type, judged.required)
            key = AssertionKey(*same, occurrences[same])
            occurrences[same] += 1
            tally = self.assertions[key]
            if judged.passed is None and entry.outcome is Outcome.PENDING:
                continue  # it is not known yet whether it can be judged
            tally[judged.passed] += 1
            if judged.passed is False and entry.outcome is Outcome.PASSED:
                self.tolerated[key] += 1

    @property
    def identical(self) -> int:
        """The completed runs whose tool calls and final output are those of another one."""
        sizes = (sum(1 for _ in same) for _, same in groupby(sorted(self._hashes)))
        return sum(size for size in sizes if size > 1)

    @property
    def simulator_errors(self) -> int:
        return sum(entry.cause is Cause.SIMULATOR for entry in self.errors)
