"""Runs in rounds, until the pass rate is settled: whether another round is wanted, and which runs it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.store import RunStore

if TYPE_CHECKING:
    from salvo.scenarios.run.runner import ScenarioRuns


class SequentialRuns:
    """A round has as many runs as go on at once. One looks when all of them have ended, for to look earlier would
    favour the quick ones; the bounds are a confidence sequence's, which may be looked at as often as one likes."""

    def __init__(self, store: RunStore, at_once: int, earlier: Mapping[str, Sequence[IndexEntry]]) -> None:
        self._store = store
        self._at_once = at_once
        self._earlier = earlier
        self._completed: dict[str, int] = {}

    def next(self, ran: ScenarioRuns) -> list[int]:
        """The numbers of the next round's runs; none where it is settled, or where going on would not settle it."""
        batch = ran.prepared.batch
        made = [*self._earlier.get(batch.batch_id, ()), *ran.entries]
        if ran.unmade or not is_unsettled(batch, made):
            return []
        completed = sum(_is_completed(of) for of in made)
        if completed == self._completed.get(batch.batch_id):
            return []  # a whole round could not be judged: something is broken, and more of it would only cost
        self._completed[batch.batch_id] = completed
        return self.begin(batch, ran.prepared.scenario.concurrency)

    def begin(self, batch: Batch, at_once: int | None) -> list[int]:
        """Says in the batch's file what is begun, before it is: so that a crash can be resumed."""
        first, last = batch.runs + 1, min(batch.runs + (at_once or self._at_once), batch.max_runs or 0)
        batch.runs = last
        self._store.save_batch(batch)
        return list(range(first, last + 1))


def is_unsettled(batch: Batch, made: Sequence[IndexEntry]) -> bool:
    """Whether more runs may be made, and could settle what is not."""
    if batch.max_runs is None or batch.runs >= batch.max_runs:
        return False
    # Only for those who want to be sure: the others wait for no statistics before their first request.
    from salvo.engine.stats import settled
    from salvo.scenarios.analysis.confidence_gate import confidence_of

    completed = [of for of in made if _is_completed(of)]
    passed = sum(of.outcome is Outcome.PASSED for of in completed)
    confidence = confidence_of(batch)
    return confidence is not None and settled(passed, len(completed), batch.min_pass_rate, confidence) is None


def _is_completed(of: IndexEntry) -> bool:
    return of.outcome in (Outcome.PASSED, Outcome.FAILED)
