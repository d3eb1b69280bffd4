"""Scores of stored runs as sides of a comparison, in place of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from salvo.errors import UsageError
from salvo.scenarios.result import Batch
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.score_store import PREFIX, ScoreStore
from salvo.scenarios.store.store import RunStore


class ScoredSides:
    """Finds batches and scores by their ids, and lists their runs."""

    def __init__(self, store: RunStore, list_entries: Callable[[Iterable[str]], Entries] | None = None) -> None:
        """`list_entries` replaces that of the store."""
        self._store = store
        self._list_entries = list_entries or store.list_entries
        self._scores = ScoreStore(store)

    def load(self, text: str) -> Batch:
        """Return a batch; a scored one as if it had been run with the scenario that it was scored with."""
        if not text.startswith(PREFIX):
            return self._store.load_batch(self._store.find_batch(text))
        scoring = self._scores.load(self._scores.find(text))
        return scoring.as_batch(self._store.load_batch(scoring.batch_id))

    def check_different_runs(self, a: Batch, b: Batch) -> None:
        """Raise UsageError for two verdicts on the same runs: the test of a comparison is for independent ones."""
        if self._scored_batch(a) == self._scored_batch(b):
            scored = a if a.batch_id.startswith(PREFIX) else b
            raise UsageError(
                f"{a.batch_id} and {b.batch_id} are verdicts on the same runs, which are no independent samples.",
                hint=f"How many verdicts changed is shown by: salvo report {scored.batch_id}",
            )

    def list_entries(self, batch_ids: Iterable[str]) -> Entries:
        """Return the runs of these batches and scores."""
        all_ids = list(batch_ids)
        entries = self._list_entries(batch_id for batch_id in all_ids if not batch_id.startswith(PREFIX))
        for score_id in all_ids:
            if score_id.startswith(PREFIX):
                scored = self._scores.load_entries(score_id)
                entries.extend(scored)
                entries.skipped += scored.skipped
        return entries

    def _scored_batch(self, batch: Batch) -> str:
        return self._scores.load(batch.batch_id).batch_id if batch.batch_id.startswith(PREFIX) else batch.batch_id
