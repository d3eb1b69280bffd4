"""The batches of questions that were sent to providers' batch APIs, and their answers, in the store of the runs.

    question-batches/{tag}/batch.json         which questions a batch has, and how far it is
    question-batches/{tag}/answers.json       what came back

They are kept: they say what was paid for. They have the questions of runs (store/pending_store.py), and those of
`salvo score` and `salvo judge` (store/score_store.py, store/rejudge_store.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from salvo.engine.batches.base import ItemAnswer
from salvo.engine.batches.client import QuestionBatch
from salvo.engine.jsonio import json_codec
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.ids import checked_id, is_id
from salvo.scenarios.store.stored_file import damaged, load_stored

_BATCHES = "question-batches"


class QuestionBatchStore:
    """A `BatchStore` in the store of the runs."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def save(self, batch: QuestionBatch) -> None:
        self._storage.put(_batch_key(batch.tag, "batch.json"), json_codec.dumps(batch, indent=1))

    def save_answers(self, batch: QuestionBatch, answers: Mapping[str, ItemAnswer]) -> None:
        self._storage.put(_batch_key(batch.tag, "answers.json"), json_codec.dumps(answers, indent=1))

    def load_all(self) -> list[QuestionBatch]:
        """Return every batch of questions, oldest first."""
        tags = sorted(filter(is_id, self._storage.folders(_BATCHES)))
        batches = [load_stored(self._storage, _batch_key(tag, "batch.json"), QuestionBatch) for tag in tags]
        for tag, batch in zip(tags, batches, strict=True):
            if batch.tag != tag:
                raise damaged(self._storage.describe(_batch_key(tag, "batch.json")), f": it holds {batch.tag}")
        return batches

    def load_answers(self, tag: str) -> dict[str, ItemAnswer]:
        return load_stored(self._storage, _batch_key(tag, "answers.json"), dict[str, ItemAnswer])


def _batch_key(tag: str, name: str) -> str:
    return f"{_BATCHES}/{checked_id(tag, 'batch of questions')}/{name}"
