"""How the verdicts of `salvo score` on the runs of a batch differ from those of the batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from salvo.engine.text.formatting import pluralize
from salvo.records import record
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.result import Batch, Outcome
from salvo.scenarios.store.index import IndexEntry
from salvo.scenarios.store.score_store import ScoreStore, Scoring
from salvo.scenarios.store.store import RunStore


@record
class ChangedVerdict:
    """A run whose verdict differs."""

    run_id: str
    before: Outcome
    after: Outcome


@record
class VerdictChanges:
    """The runs that have a verdict of both, and those whose verdicts differ."""

    compared: int
    changed: list[ChangedVerdict]

    def __str__(self) -> str:
        pairs = Counter((run.before is Outcome.PASSED, run.after) for run in self.changed)
        newly_failed = pairs[False, Outcome.FAILED]
        unjudged = sum(run.after not in (Outcome.PASSED, Outcome.FAILED) for run in self.changed)
        counts = [f"{pairs[False, Outcome.PASSED]} pass that did not", f"{pairs[True, Outcome.FAILED]} no longer pass"]
        counts += [f"{newly_failed} fail that had no verdict"] if newly_failed else []
        counts += [f"{unjudged} could not be judged"] if unjudged else []
        return f"{', '.join(counts[:-1])}, and {counts[-1]}"


def verdict_changes(before: Iterable[IndexEntry], after: Iterable[IndexEntry]) -> VerdictChanges:
    outcomes = {entry.run_id: entry.outcome for entry in before if entry.outcome is not Outcome.PENDING}
    judged = (entry for entry in after if entry.outcome is not Outcome.PENDING and entry.run_id in outcomes)
    both = [(entry.run_id, outcomes[entry.run_id], entry.outcome) for entry in judged]
    return VerdictChanges(len(both), [ChangedVerdict(*item) for item in both if item[1] is not item[2]])


@record
class ScoredAgain:
    """One scoring of a batch."""

    scoring: Scoring
    summary: BatchSummary
    changes: VerdictChanges
    unreadable: int
    """Scores that could not be read."""

    @property
    def sentence(self) -> str:
        """How the verdicts differ."""
        return f"Of {pluralize(self.changes.compared, 'run')} of the batch, {self.changes}."


def newest_scorings(
    store: RunStore, batch: Batch, entries: Iterable[IndexEntry], limit: int
) -> tuple[list[ScoredAgain], int]:
    """Return the newest scorings of a batch, newest first, and how many older ones there are."""
    scores = ScoreStore(store)
    scorings = sorted(scores.of_batch(batch.batch_id), key=lambda item: item.created_at, reverse=True)
    before = list(entries)
    newest = []
    for scoring in scorings[:limit]:
        after = scores.load_entries(scoring.score_id)
        summary = summarise(scoring.as_batch(batch), after)
        newest.append(ScoredAgain(scoring, summary, verdict_changes(before, after), after.skipped))
    return newest, len(scorings) - len(newest)
