"""Scores of stored runs as text: how they differ from the verdicts of their batch. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.analysis.scored_again import verdict_changes
from salvo.scenarios.analysis.summary import BatchSummary
from salvo.scenarios.report import terminal
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.score_store import Scoring


def table(
    scoring: Scoring, summary: BatchSummary, before: Iterable[IndexEntry], after: Iterable[IndexEntry]
) -> list[str]:
    """Return the scores as a table, and how many verdicts differ from those of the batch."""
    changes = verdict_changes(before, after)
    sentence = f"Scored with {printable(scoring.source)}"
    if changes.compared:
        sentence += f": of {pluralize(changes.compared, 'run')} of the batch {scoring.batch_id}, {changes}"
    return [
        *terminal.batch_table(summary, colour=True, scoring=True),
        "",
        f"{sentence}.",
        "The agent did not run again: latency, and cost without the judges, are those of the batch.",
    ]


def batch_note(scorings: Sequence[Scoring]) -> list[str]:
    """Return the lines below the table of a batch that was scored again."""
    return [f"Scored again with {printable(item.source)}: salvo report {item.score_id}" for item in scorings]
