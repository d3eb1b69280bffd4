"""A stored batch as a file for people: what is read from the store for it."""

from __future__ import annotations

from typing import NamedTuple

from salvo.scenarios.analysis.comparison_inputs import some_runs
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.report import html
from salvo.scenarios.store.store import RunStore


class Exported(NamedTuple):
    html: str
    summary: BatchSummary
    unread: int
    """Runs that could not be read; the file says so."""


def export(store: RunStore, batch_id: str) -> Exported:
    batch, entries = store.load_batch(batch_id), store.load_entries(batch_id)
    summary = summarise(batch, entries)
    runs = list(some_runs(store, entries))
    return Exported(html.render(summary, batch, runs, entries.skipped), summary, entries.skipped)
