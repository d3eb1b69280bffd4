"""Sequential runs (`--until-sure`): whether a batch needs more runs before its verdict can be given.

Runs are made in rounds, and the verdict is looked at only when all runs of a round have ended: looking earlier would be
biased towards fast runs. The bounds are those of a confidence sequence, so they may be looked at after every round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from salvo.engine.stats.gating import settled
from salvo.scenarios.analysis.confidence_gate import required_confidence
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.index import IndexEntry


def is_unsettled(batch: Batch, entries: Sequence[IndexEntry]) -> bool:
    """Return whether more runs may be made, and could settle the verdict."""
    if batch.max_runs is None or batch.runs >= batch.max_runs:
        return False
    completed = completed_runs(entries)
    passed = sum(entry.outcome is Outcome.PASSED for entry in completed)
    confidence = required_confidence(batch)
    return confidence is not None and settled(passed, len(completed), batch.min_pass_rate, confidence) is None


def completed_runs(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    return [entry for entry in entries if entry.outcome in (Outcome.PASSED, Outcome.FAILED)]
