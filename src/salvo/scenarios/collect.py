"""`salvo collect`: send the questions of pending runs to the providers' batch APIs, and give verdicts on the answers.

Every step can be repeated: a process that is killed leaves what it has done in the store, and the next one goes on.

collect(…)
  _submit             questions that are in no batch yet, and batches that a killed process may have submitted
  BatchClient.fetch   ask for batches that have not ended, and store the answers of those that have
  _finish             give the verdict on each run whose answers are all there
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial

from salvo.engine.batches.base import BatchProgress, ItemAnswer
from salvo.engine.batches.client import BatchClient, QuestionBatch, StoredQuestion
from salvo.engine.batches.deferral import question_body, write_answer
from salvo.engine.wire.base import Wire
from salvo.engine.wire.tape import Tape
from salvo.errors import InputError, ProviderError, UsageError
from salvo.records import record
from salvo.scenarios.evaluators.base import LoadObject, refuse_to_load
from salvo.scenarios.evaluators.registry import builtin_registry, is_users_code
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings
from salvo.scenarios.result import Batch
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.deferred_judging import judge_pending
from salvo.scenarios.run.environment import PreparedScenario
from salvo.scenarios.run.redaction import clean_scenario
from salvo.scenarios.spec.judge_server import scenario_judge_servers
from salvo.scenarios.spec.loader import from_document
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.pending_store import PendingRun, QuestionBatchStore
from salvo.scenarios.store.recordings.recording import Recording
from salvo.scenarios.store.stored_file import damaged
from salvo.scenarios.workspace import Calls, Workspace, cell_redactor


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
    """Works on the pending runs of some batches, which the caller holds."""

    workspace: Workspace
    batches: Sequence[Batch]
    listener: CollectListener = field(default_factory=CollectListener)

    def prepare(self) -> None:
        """Register where the judges of these batches are. Raise UsageError if a server of theirs is not known."""
        for batch in self.batches:
            if any(scenario_judge_servers(from_document(batch.scenario))):
                # Only the present file says where a key goes; a store does not.
                self.workspace.register_judges(self._present_scenario(batch))

    def waiting(self) -> list[str]:
        """Return the runs that have no verdict yet."""
        store = self.workspace.store()
        return [run_id for batch in self.batches for run_id in store.waiting_runs(batch)]

    async def submit(self, wire: Wire) -> None:
        """Submit what was not submitted yet."""
        client = self._client(wire)
        await self._submit_planned(client)
        await self._submit_new(client)

    async def fetch(self, wire: Wire) -> list[QuestionBatch]:
        """Ask the provider for every batch of these runs, and return those that have not ended."""
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
        """Give the verdict on every run whose answers are there. Return how many there were."""
        store = self.workspace.store()
        own = self._own_batches()
        places = _Places(own)
        answers: dict[str, dict[str, ItemAnswer]] = {}
        load_answers = QuestionBatchStore(store.storage).load_answers
        count = 0
        for batch in self.batches:
            prepared: PreparedScenario | None = None
            for run_id in store.pending.run_ids(f"{batch.batch_id}-"):
                if store.has_run(run_id) or store.has_recording(run_id):
                    store.pending.remove(run_id)  # a process was killed before it did this
            for run_id in store.waiting_runs(batch):
                pending = store.pending.load(run_id)
                questions = Tape.from_document(pending.questions, f"The pending run {run_id}")
                if not places.are_answered(run_id, len(questions.exchanges)):
                    continue
                for position, exchange in enumerate(questions.exchanges):
                    question_batch, index = places.find(run_id, position)
                    if question_batch.tag not in answers:
                        answers[question_batch.tag] = load_answers(question_batch.tag)
                    answer = answers[question_batch.tag].get(question_batch.custom_id(index))
                    write_answer(exchange, answer, question_batch.batch_id)
                prepared = prepared or self._prepare(batch)
                await self._finish_run(batch, prepared, pending, questions)
                count += 1
        return count

    async def _finish_run(self, batch: Batch, prepared: PreparedScenario, pending: PendingRun, answered: Tape) -> None:
        workspace, store = self.workspace, self.workspace.store()
        run_id = pending.run.run_id
        recording = None
        if pending.recording is not None:
            files = {name: content.encode() for name, content in pending.recording.items()}
            recording = Recording.from_files(files, run_id)
        result, recording_files = await judge_pending(
            pending.run,
            answered,
            prepared,
            builtin_registry(),
            cell_redactor(prepared.scenario, workspace.redactor()),
            workspace.clock,
            workspace.price_book(),
            recording,
            RunSettings.from_batch(batch).recording,
        )
        if recording_files is not None:
            store.save_recording(run_id, recording_files)
        store.save_run(result)
        store.pending.remove(run_id)

    async def _submit_planned(self, client: BatchClient) -> None:
        """Submit the batches that were planned, by a process that was killed or by one that could not send them."""
        known_ids = frozenset(batch.batch_id for batch in self._stored_batches() if batch.is_submitted)
        for batch in self._own_batches():
            if not batch.is_submitted:
                await self._submit(client, batch, self._questions_of(batch), known_ids)

    async def _submit_new(self, client: BatchClient) -> None:
        planned = [place for batch in self._own_batches() for place in batch.questions]
        new = {(item.owner, item.position): item for item in self._all_questions()}
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

    def _all_questions(self) -> Iterator[StoredQuestion]:
        for run_id in self.waiting():
            yield from self._questions_of_run(run_id)

    def _questions_of_run(self, run_id: str) -> Iterator[StoredQuestion]:
        document = self.workspace.store().pending.load(run_id).questions
        tape = Tape.from_document(document, f"The pending run {run_id}")
        for position, exchange in enumerate(tape.exchanges):
            request = exchange.request
            body = question_body(exchange)
            if not isinstance(body, dict):
                raise damaged(f"The pending run {run_id}", f": question {position} is not a JSON object")
            yield StoredQuestion(run_id, position, request.endpoint, request.path, body)

    def _questions_of(self, batch: QuestionBatch) -> list[StoredQuestion]:
        """Return the questions of a batch, in its order."""
        by_place = {
            (item.owner, item.position): item
            for owner in dict.fromkeys(owner for owner, _ in batch.questions)
            for item in self._questions_of_run(owner)
        }
        if missing := [place for place in batch.questions if place not in by_place]:
            owner, position = missing[0]
            raise damaged(f"The batch of questions {batch.tag}", f": {owner} has no question {position}")
        return [by_place[place] for place in batch.questions]

    def _own_batches(self) -> list[QuestionBatch]:
        """Return the batches of questions that belong to runs without a verdict."""
        waiting = set(self.waiting())
        return [batch for batch in self._stored_batches() if any(owner in waiting for owner, _ in batch.questions)]

    def _stored_batches(self) -> list[QuestionBatch]:
        return QuestionBatchStore(self.workspace.store().storage).load_all()

    def _client(self, wire: Wire) -> BatchClient:
        workspace = self.workspace
        store = QuestionBatchStore(workspace.store().storage)
        return BatchClient(wire, workspace.all_endpoints(), workspace.clock, store)

    def _prepare(self, batch: Batch) -> PreparedScenario:
        """Return the scenario that was run, as it is stored. Code of the user's comes from the present file."""
        scenario = from_document(batch.scenario)
        load: LoadObject = refuse_to_load
        if any(is_users_code(assertion.type) for _, assertion in scenario.all_assertions()):
            present = self._present_scenario(batch)
            redactor = cell_redactor(present, self.workspace.redactor())
            if clean_scenario(present, redactor)["assertions"] == batch.scenario.get("assertions"):
                load = partial(self.workspace.project.load, near=self.workspace.project.stored_source(batch.source))
        return PreparedScenario(batch, scenario, [], BaseAdapter, load, {})

    def _present_scenario(self, batch: Batch) -> Scenario:
        workspace = self.workspace
        try:
            file = workspace.project.stored_source(batch.source)
        except InputError as error:
            raise UsageError(
                f"{error.message} A store does not choose where keys go, or where code comes from.",
                hint="Restore the scenario file. What was asked of the judges is kept.",
            ) from error
        overrides = ScenarioOverrides.from_batch(batch)
        return workspace.read(file, overrides, scenario_id=batch.scenario_id, calls=Calls.JUDGES)


class _Places:
    """Where each question of a run is: in which batch, and at which position there."""

    def __init__(self, batches: Sequence[QuestionBatch]) -> None:
        self._places = {place: (batch, index) for batch in batches for index, place in enumerate(batch.questions)}

    def are_answered(self, owner: str, count: int) -> bool:
        places = (self._places.get((owner, position)) for position in range(count))
        return all(place is not None and place[0].has_ended for place in places)

    def find(self, owner: str, position: int) -> tuple[QuestionBatch, int]:
        return self._places[owner, position]
