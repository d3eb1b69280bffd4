"""Scores of stored runs, beside their batch: `.salvo/scores/{score_id}/`. The batch and its runs are never changed.

score.json       which batch was scored, and with which scenario
{run_id}.json    the verdict on one run, written as soon as its judges are paid for

With `--judges batch`, a run waits in `.salvo/pending-scores/{score_id}/{run_id}.json` until its votes are collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import field, fields, replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.errors import StoreError, TapeError
from salvo.records import record
from salvo.scenarios.result import AgentRunResult, Batch, Cause, EvalResult, Outcome
from salvo.scenarios.store.ids import SCORE_PREFIX, checked_id, is_id, is_run_id, only_match, split_run_id
from salvo.scenarios.store.index import Entries, IndexEntry, index_entry
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.store.stored_file import damaged, load_stored

_HEADER = "score.json"
_PENDING = "pending-scores"
PREFIX = SCORE_PREFIX


@record
class Scoring:
    """The runs of one batch, scored with one scenario."""

    score_id: str
    batch_id: str
    created_at: str
    source: str
    """The scenario file whose assertions were used."""
    scenario: dict[str, Any]
    """The scenario with which the runs were scored, secrets redacted."""
    threshold: float
    min_pass_rate: float
    confidence: float | None
    runs: int
    salvo_version: str
    as_command_set: bool = False
    """Whether what the command of the batch set instead of its file (`--threshold`) applies."""
    batch_judges: bool = False
    """Whether judges are asked through the providers' batch APIs."""

    def as_batch(self, batch: Batch) -> Batch:
        """Return the scored batch as if it had been run with this scenario. Its id is that of the scoring."""
        return replace(
            batch,
            batch_id=self.score_id,
            created_at=self.created_at,
            scenario=self.scenario,
            source=self.source,
            threshold=self.threshold,
            min_pass_rate=self.min_pass_rate,
            confidence=self.confidence,
            runs=self.runs,
            salvo_version=self.salvo_version,
            settings={**batch.settings, "batch_judges": self.batch_judges},
        )


@record
class RunScore:
    """The verdict on one stored run."""

    run_id: str
    outcome: Outcome
    cause: Cause | None
    passed: bool
    weighted_score: float | None
    error: str | None
    judge_cost: float | None
    eval_results: list[EvalResult]
    prices: dict[str, Any] = field(default_factory=dict)
    """The prices by which the judges were charged."""

    @classmethod
    def from_result(cls, result: AgentRunResult, prices: dict[str, Any]) -> RunScore:
        return copy_fields(cls, result, prices=prices)

    def apply(self, stored: AgentRunResult, score_id: str) -> AgentRunResult:
        """Return the stored run with this verdict instead of its own, as a run of the scoring."""
        names = {item.name for item in fields(self)} - {"run_id", "prices"}
        verdict = {name: getattr(self, name) for name in names}
        return stored.model_copy(update={**verdict, "batch_id": score_id})


@record
class PendingScore:
    """The score of a run whose judges wait for a provider's batch."""

    score: RunScore
    """Without the verdicts that wait."""
    questions: dict[str, Any]
    """A tape, whose exchanges have no replies yet."""


class ScoreStore:
    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._storage = store.storage

    def save(self, scoring: Scoring) -> None:
        self._storage.put(_key(scoring.score_id, _HEADER), json_codec.dumps(scoring, indent=2))

    def hold(self, score_id: str, now: str) -> AbstractContextManager[None]:
        """Let no other process score the same runs in a block. Raise UsageError if one does already."""
        return self._storage.hold([checked_id(score_id, "score")], now)

    def save_run(self, score_id: str, score: RunScore) -> None:
        self._storage.put(_run_key(score_id, score.run_id), json_codec.dumps(score, indent=2))

    def find(self, text: str) -> str:
        """Return the scoring whose id begins with the text."""
        return only_match(text, "score", sorted(self._ids()))

    def load(self, score_id: str) -> Scoring:
        key = _key(score_id, _HEADER)
        scoring = load_stored(self._storage, key, Scoring)
        if scoring.score_id != score_id:
            raise damaged(self._storage.describe(key), f": it holds {scoring.score_id}")
        return scoring

    def of_batch(self, batch_id: str) -> Iterator[Scoring]:
        """Yield the scorings of a batch, oldest first. Unreadable ones are left out."""
        for score_id in sorted(self._ids()):
            try:
                scoring = self.load(score_id)
            except StoreError:
                continue
            if scoring.batch_id == batch_id:
                yield scoring

    def scored_runs(self, score_id: str) -> list[str]:
        """Return the ids of the runs that have a verdict."""
        names = self._storage.names(f"scores/{checked_id(score_id, 'score')}")
        files = (name for name in names if name != _HEADER and name.endswith(".json"))
        return sorted(filter(is_id, (name.removesuffix(".json") for name in files)))

    def save_pending(self, score_id: str, score: RunScore, questions: bytes) -> None:
        """Store a run whose judges wait for a batch."""
        document = {"score": score, "questions": json_codec.loads(questions)}
        self._storage.put(_pending_key(score_id, score.run_id), json_codec.dumps(document, indent=1))

    def load_pending(self, score_id: str, run_id: str) -> PendingScore:
        key = _pending_key(score_id, run_id)
        pending = load_stored(self._storage, key, PendingScore)
        if pending.score.run_id != run_id:
            raise damaged(self._storage.describe(key), f": it holds the run {pending.score.run_id}")
        return pending

    def remove_pending(self, score_id: str, run_id: str) -> None:
        self._storage.delete(_pending_key(score_id, run_id))

    def waiting_runs(self, score_id: str) -> list[str]:
        """Return the runs whose judges wait for a provider's batch, ordered by number."""
        return sorted(set(self.pending_runs(score_id)) - set(self.scored_runs(score_id)), key=split_run_id)

    def pending_runs(self, score_id: str) -> list[str]:
        """Return the runs that waited when they were stored. A process may have been killed before it removed one."""
        listed = self._storage.names(f"{_PENDING}/{checked_id(score_id, 'score')}")
        return sorted(filter(is_run_id, (name.removesuffix(".json") for name in listed)))

    def waiting_scorings(self) -> list[str]:
        """Return the scorings with runs whose judges wait, oldest first."""
        score_ids = sorted(filter(is_id, self._storage.folders(_PENDING, PREFIX)))
        return [score_id for score_id in score_ids if self.waiting_runs(score_id)]

    def load_entries(self, score_id: str) -> Entries:
        """Return the runs with the verdicts of this scoring, also those that wait, and count those that cannot be
        read."""

        def entry_or_none(run_id: str) -> IndexEntry | None:
            try:
                return index_entry(self.load_run(score_id, run_id))
            except (StoreError, TapeError):
                return None

        entries = Entries()
        for entry in self._store.map_runs(entry_or_none, [*self.scored_runs(score_id), *self.waiting_runs(score_id)]):
            if entry is None:
                entries.skipped += 1
            else:
                entries.append(entry)
        entries.sort(key=lambda entry: entry.number)
        return entries

    def load_run(self, score_id: str, run_id: str) -> AgentRunResult:
        key = _run_key(score_id, run_id)
        if not self._storage.exists(key) and self._storage.exists(_pending_key(score_id, run_id)):
            return self.load_pending(score_id, run_id).score.apply(self._store.load_run(run_id), score_id)
        score = load_stored(self._storage, key, RunScore)
        if score.run_id != run_id:
            raise damaged(self._storage.describe(key), f": it holds the run {score.run_id}")
        return score.apply(self._store.load_run(run_id), score_id)

    def _ids(self) -> Iterator[str]:
        return filter(is_id, self._storage.folders("scores", PREFIX))


def _key(score_id: str, name: str) -> str:
    return f"scores/{checked_id(score_id, 'score')}/{name}"


def _pending_key(score_id: str, run_id: str) -> str:
    return f"{_PENDING}/{checked_id(score_id, 'score')}/{checked_id(run_id, 'run')}.json"


def _run_key(score_id: str, run_id: str) -> str:
    return _key(score_id, f"{checked_id(run_id, 'run')}.json")
