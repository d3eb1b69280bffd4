"""Batches of questions on their way through a provider: planned, submitted, ended. Every step is stored first.

planned      stored with the questions that it has, before anything is sent
submitted    the provider's id is known
ended        the answers are stored

A process may be killed at any point. A batch that is found planned may have been submitted by a process that was
killed, so it is looked for at the provider before it is submitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from salvo.engine.batches.anthropic import AnthropicBatches
from salvo.engine.batches.base import (
    MOST_BYTES,
    MOST_ITEMS,
    BatchApi,
    BatchItem,
    BatchProgress,
    BatchSearch,
    BatchSubmission,
    ItemAnswer,
)
from salvo.engine.batches.openai import OpenAIBatches
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock
from salvo.engine.wire.base import Endpoint, Wire
from salvo.engine.wire.retry import RetryingWire
from salvo.errors import UsageError
from salvo.records import record

_SETTLE_SECONDS = 30.0
"""How long a request of a killed process may still be on its way, before its batch is looked for."""


def dialect_of_path(path: str) -> str:
    """Return the provider whose protocol a direct call to this path speaks."""
    return "anthropic" if path.startswith("/v1/messages") else "openai"


@record
class QuestionBatch:
    """A batch of questions to one model. The n-th item has the custom id `{tag}-{n}`."""

    tag: str
    endpoint: str
    """The name of the endpoint; never an address, because a stored file must not say where a key goes."""
    dialect: str
    model: str
    path: str
    planned_at: str
    questions: list[tuple[str, int]]
    """Each with its owner, such as a run, and its position on the owner's tape."""
    batch_id: str = ""
    """The provider's id, once it is known."""
    ended_at: str = ""

    @property
    def is_submitted(self) -> bool:
        return bool(self.batch_id)

    @property
    def has_ended(self) -> bool:
        return bool(self.ended_at)

    def __post_init__(self) -> None:
        if datetime.fromisoformat(self.planned_at).tzinfo is None:
            raise ValueError("planned_at has no time zone")

    def custom_id(self, position: int) -> str:
        return f"{self.tag}-{position}"


class BatchStore(Protocol):
    """Where batches of questions are stored. Each method writes completely or not at all."""

    def save(self, batch: QuestionBatch) -> None: ...

    def save_answers(self, batch: QuestionBatch, answers: Mapping[str, ItemAnswer]) -> None:
        """Store the answers, before the batch is saved as ended."""
        ...


class StoredQuestion(NamedTuple):
    """A stored question: who asks it, its position on the owner's tape, where it goes, and its body."""

    owner: str
    position: int
    endpoint: str
    path: str
    body: Any


@record
class BatchClient:
    """Submits batches and fetches their answers."""

    wire: Wire
    endpoints: Mapping[str, Endpoint]
    clock: Clock
    store: BatchStore

    def plan(self, questions: Iterable[StoredQuestion]) -> list[QuestionBatch]:
        """Group questions by where they go and by model, and store the batches before anything is sent."""
        groups: dict[tuple[str, str, str], list[tuple[StoredQuestion, int]]] = {}
        for question in questions:
            model = str(question.body.get("model", ""))
            size = len(json_codec.dumps(question.body)) + 200
            groups.setdefault((question.endpoint, question.path, model), []).append((question, size))
        batches = []
        for (endpoint, path, model), items in groups.items():
            for part in _parts(items):
                batch = QuestionBatch(
                    tag=self.clock.new_id(),
                    endpoint=endpoint,
                    dialect=dialect_of_path(path),
                    model=model,
                    path=path,
                    planned_at=self.clock.now().isoformat(),
                    questions=[(question.owner, question.position) for question in part],
                )
                self.store.save(batch)
                batches.append(batch)
        return batches

    async def submit(
        self, batch: QuestionBatch, bodies: Sequence[Any], known_ids: frozenset[str] | None = None
    ) -> QuestionBatch:
        """Submit a planned batch, unless it turns out that it was submitted before. Return it with the provider's id.

        `known_ids` are the provider's ids of all other batches; None for a batch that was planned just now, which
        nobody can have submitted.
        """
        api = self._api(batch)
        batch_id = None if known_ids is None else await self._find(api, batch, known_ids)
        if batch_id is None:
            items = [BatchItem(batch.custom_id(index), body) for index, body in enumerate(bodies)]
            batch_id = await api.submit(BatchSubmission(batch.tag, batch.path, items))
        submitted = replace(batch, batch_id=batch_id)
        self.store.save(submitted)
        return submitted

    async def _find(self, api: BatchApi, batch: QuestionBatch, known_ids: frozenset[str]) -> str | None:
        planned = datetime.fromisoformat(batch.planned_at)
        age = (self.clock.now() - planned).total_seconds()
        if age < _SETTLE_SECONDS:
            await self.clock.sleep(_SETTLE_SECONDS - max(age, 0.0))  # a damaged file may name a time to come
        return await api.find(BatchSearch(batch.tag, len(batch.questions), planned, known_ids))

    async def fetch(self, batch: QuestionBatch) -> tuple[QuestionBatch, BatchProgress]:
        """Ask how far a submitted batch is. If it has ended, store its answers and return it as ended."""
        api = self._api(batch)
        progress = await api.progress(batch.batch_id)
        if not progress.has_ended:
            return batch, progress
        if progress.problem:
            refused = ItemAnswer(problem=progress.problem)
            answers = {batch.custom_id(index): refused for index in range(len(batch.questions))}
        else:
            answers = await api.answers(batch.batch_id)
        self.store.save_answers(batch, answers)
        ended = replace(batch, ended_at=self.clock.now().isoformat())
        self.store.save(ended)
        return ended, progress

    def _api(self, batch: QuestionBatch) -> BatchApi:
        if batch.endpoint not in self.endpoints:
            raise UsageError(
                f"The server {batch.endpoint!r}, to which questions were to be sent, is not known here.",
                hint="Restore the scenario file that names it.",
            )
        kind = AnthropicBatches if batch.dialect == "anthropic" else OpenAIBatches
        retrying = RetryingWire(self.wire, clock=self.clock)
        return kind(batch.endpoint, batch.model, once=self.wire, retrying=retrying)


def _parts(items: Sequence[tuple[StoredQuestion, int]]) -> Iterator[list[StoredQuestion]]:
    """Yield the questions in as few parts as the limits of a batch allow."""
    part: list[StoredQuestion] = []
    total = 0
    for question, size in items:
        if part and (len(part) == MOST_ITEMS or total + size > MOST_BYTES):
            yield part
            part, total = [], 0
        part.append(question)
        total += size
    if part:
        yield part
