"""The run to look at beside another: of the same batch and the other kind, with the most of its way in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from salvo.errors import StoreError, TapeError
from salvo.scenarios.index import IndexEntry
from salvo.scenarios.parting import Way, way_of, ways_shared
from salvo.scenarios.result import AgentRunResult, Outcome
from salvo.scenarios.store import Store

MOST_READ = 50
"""Run files that are read to find it: those with the most similar number of tool calls."""


def partner_of(store: Store, result: AgentRunResult, entries: Sequence[IndexEntry]) -> str | None:
    """For a run that passed the nearest that failed, for every other the nearest that passed; None if there is none."""
    wanted = Outcome.FAILED if result.passed else Outcome.PASSED
    others = [of for of in entries if of.outcome is wanted]
    others.sort(key=lambda of: (abs(of.tool_count - result.metrics.tool_count), of.number))
    ways = []
    for of in others[:MOST_READ]:
        with suppress(StoreError, TapeError):  # one that cannot be read is none to look at
            ways.append(way_of(store.load_run(of.run_id)))
    found = nearest(way_of(result), ways)
    return found.run_id if found else None


def nearest(way: Way, others: Iterable[Way]) -> Way | None:
    """The first of those that go the longest way with it."""
    return max(others, key=lambda other: ways_shared(way, other), default=None)
