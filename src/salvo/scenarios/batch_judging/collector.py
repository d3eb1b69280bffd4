"""Send questions that wait to the providers' batch APIs, and give verdicts on the answers.

Every step can be repeated: a process that is killed leaves what it has done in the store, and the next one goes on.

Collector
  submit    questions that are in no batch yet, and batches that a killed process may have submitted
  fetch     ask for batches that have not ended, and store the answers of those that have
  finish    give the verdict on each transcript whose answers are all there
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Protocol

from salvo.engine.batches.base import BatchProgress, ItemAnswer
from salvo.engine.batches.client import BatchClient, QuestionBatch, StoredQuestion
from salvo.engine.batches.deferral import question_body, write_answer
from salvo.engine.wire.base import Wire
from salvo.engine.wire.tape import Tape
from salvo.errors import ProviderError
from salvo.records import record
from salvo.scenarios.batch_judging.question_batch_store import QuestionBatchStore
from salvo.scenarios.store.stored_file import damaged
from salvo.scenarios.workspace import Workspace


class PendingTranscripts(Protocol):
    """Transcripts whose judges wait for a provider's batch, each with an id that no other one in the store has."""

    def prepare(self) -> None:
        """Register where the judges are. Raise UsageError if a server of theirs is not known."""
        ...

    def waiting(self) -> list[str]:
        """Return the ids of those that have no verdict yet."""
        ...

    def questions(self, owner: str) -> Tape:
        """Return the questions to the judges of one of them."""
        ...

    async def finish(self, owner: str, answered: Tape) -> None:
        """Give the verdict by the answers, store it, and let this one wait no longer."""
        ...

    def remove_finished(self) -> None:
        """Remove what a process left that was killed between the last two steps of `finish`."""
        ...


class CollectListener:
    """Is notified of what happens to the batches of questions. Subclasses override what they need."""

    def submitted(self, batch: QuestionBatch) -> None: ...

    def waiting(self, batch: QuestionBatch, progress: BatchProgress) -> None:
        """The provider has not ended this batch yet."""

    def ended(self, batch: QuestionBatch, progress: BatchProgress) -> None: ...

    def failed(self, batch: QuestionBatch, error: ProviderError) -> None:
        """Nothing came of asking the provider. What was submitted stays there."""


@record
class Collector:
    """Works on pending transcripts, which the caller holds."""

    workspace: Workspace
    transcripts: PendingTranscripts
    listener: CollectListener = field(default_factory=CollectListener)

    async def submit(self, wire: Wire) -> None:
        """Submit what was not submitted yet."""
        client = self._client(wire)
        await self._submit_planned(client)
        await self._submit_new(client)

    async def fetch(self, wire: Wire) -> list[QuestionBatch]:
        """Ask the provider for every batch of these transcripts, and return those that have not ended."""
        client = self._client(wire)
        unfinished = []
        for batch in self._own_batches():
            if batch.has_ended:
                continue
            if not batch.is_submitted:
                unfinished.append(batch)
                continue
            try:
                after, progress = await client.fetch(batch)
            except ProviderError as error:
                self.listener.failed(batch, error)
                unfinished.append(batch)
                continue
            if after.has_ended:
                self.listener.ended(after, progress)
            else:
                self.listener.waiting(after, progress)
                unfinished.append(after)
        return unfinished

    async def finish(self) -> int:
        """Give the verdict on every transcript whose answers are there. Return how many there were."""
        self.transcripts.remove_finished()
        places = _Places(self._own_batches())
        answers: dict[str, dict[str, ItemAnswer]] = {}
        load_answers = QuestionBatchStore(self.workspace.store().storage).load_answers
        count = 0
        for owner in self.transcripts.waiting():
            questions = self.transcripts.questions(owner)
            if not places.are_answered(owner, len(questions.exchanges)):
                continue
            for position, exchange in enumerate(questions.exchanges):
                batch, index = places.find(owner, position)
                if batch.tag not in answers:
                    answers[batch.tag] = load_answers(batch.tag)
                write_answer(exchange, answers[batch.tag].get(batch.custom_id(index)), batch.batch_id)
            await self.transcripts.finish(owner, questions)
            count += 1
        return count

    async def _submit_planned(self, client: BatchClient) -> None:
        """Submit the batches that were planned, by a process that was killed or by one that could not send them."""
        known_ids = frozenset(batch.batch_id for batch in self._stored_batches() if batch.is_submitted)
        for batch in self._own_batches():
            if not batch.is_submitted:
                await self._submit(client, batch, self._batch_questions(batch), known_ids)

    async def _submit_new(self, client: BatchClient) -> None:
        planned = [place for batch in self._own_batches() for place in batch.questions]
        waiting = self.transcripts.waiting()
        new = {(item.owner, item.position): item for owner in waiting for item in self._stored_questions(owner)}
        for place in planned:
            new.pop(place, None)
        for batch in client.plan(new.values()):
            await self._submit(client, batch, [new[owner, position] for owner, position in batch.questions], None)

    async def _submit(
        self,
        client: BatchClient,
        batch: QuestionBatch,
        questions: Sequence[StoredQuestion],
        known_ids: frozenset[str] | None,
    ) -> None:
        try:
            submitted = await client.submit(batch, [question.body for question in questions], known_ids)
        except ProviderError as error:
            self.listener.failed(batch, error)
        else:
            self.listener.submitted(submitted)

    def _stored_questions(self, owner: str) -> Iterator[StoredQuestion]:
        for position, exchange in enumerate(self.transcripts.questions(owner).exchanges):
            request = exchange.request
            body = question_body(exchange)
            if not isinstance(body, dict):
                raise damaged(f"What waits as {owner}", f": question {position} is not a JSON object")
            yield StoredQuestion(owner, position, request.endpoint, request.path, body)

    def _batch_questions(self, batch: QuestionBatch) -> list[StoredQuestion]:
        """Return the questions of a batch, in its order."""
        waiting = set(self.transcripts.waiting())
        by_place = {
            (item.owner, item.position): item
            for owner in dict.fromkeys(owner for owner, _ in batch.questions)
            if owner in waiting
            for item in self._stored_questions(owner)
        }
        if missing := [place for place in batch.questions if place not in by_place]:
            owner, position = missing[0]
            raise damaged(f"The batch of questions {batch.tag}", f": {owner} has no question {position}")
        return [by_place[place] for place in batch.questions]

    def _own_batches(self) -> list[QuestionBatch]:
        """Return the batches of questions that belong to transcripts without a verdict."""
        waiting = set(self.transcripts.waiting())
        return [batch for batch in self._stored_batches() if any(owner in waiting for owner, _ in batch.questions)]

    def _stored_batches(self) -> list[QuestionBatch]:
        return QuestionBatchStore(self.workspace.store().storage).load_all()

    def _client(self, wire: Wire) -> BatchClient:
        workspace = self.workspace
        store = QuestionBatchStore(workspace.store().storage)
        return BatchClient(wire, workspace.all_endpoints(), workspace.clock, store)


class _Places:
    """Where each question is: in which batch, and at which position there."""

    def __init__(self, batches: Sequence[QuestionBatch]) -> None:
        self._places = {place: (batch, index) for batch in batches for index, place in enumerate(batch.questions)}

    def are_answered(self, owner: str, count: int) -> bool:
        places = (self._places.get((owner, position)) for position in range(count))
        return all(place is not None and place[0].has_ended for place in places)

    def find(self, owner: str, position: int) -> tuple[QuestionBatch, int]:
        return self._places[owner, position]
