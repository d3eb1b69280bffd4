"""The run to look at beside another: of the same batch and the other kind, with the most of its way in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from salvo.errors import StoreError, TapeError
from salvo.scenarios.analysis.divergence import ToolPath, shared_paths, tool_path
from salvo.scenarios.result import AgentRunResult, Outcome
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.store import RunStore

MOST_READ = 50
"""Run files that are read to find it: those with the most similar number of tool calls."""


def nearest_counterpart(store: RunStore, result: AgentRunResult, entries: Sequence[IndexEntry]) -> str | None:
    """For a run that passed the nearest that failed, for every other the nearest that passed; None if there is none."""
    wanted = Outcome.FAILED if result.passed else Outcome.PASSED
    others = [of for of in entries if of.outcome is wanted]
    others.sort(key=lambda of: (abs(of.tool_count - result.metrics.tool_count), of.number))
    ways = []
    for of in others[:MOST_READ]:
        with suppress(StoreError, TapeError):  # one that cannot be read is none to look at
            ways.append(tool_path(store.load_run(of.run_id)))
    found = nearest(tool_path(result), ways)
    return found.run_id if found else None


def nearest(way: ToolPath, others: Iterable[ToolPath]) -> ToolPath | None:
    """The first of those that go the longest way with it."""
    return max(others, key=lambda other: shared_paths(way, other), default=None)
