"""Ask the questions of an evaluation through a provider's batch API, and complete it when the answers have come.

`submit_evaluation` stores the evaluation as waiting; `collect_evaluation` builds its report. The questions are written
again from the stored texts, so only the batch itself is stored. Votes are stored once, as those of direct calls are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from salvo.engine.batches.base import MOST_BYTES, BatchProgress, ItemAnswer
from salvo.engine.batches.client import BatchClient, QuestionBatch, StoredQuestion
from salvo.engine.batches.deferral import AnswerWire, DeferringWire, question_body, write_answer
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.pool import gather
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.wire.base import Endpoint
from salvo.engine.wire.tape import Tape
from salvo.errors import ProviderError, UsageError
from salvo.playbooks.evaluate.recorder import EvaluationRecorder, StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import EvaluationContext, EvaluationOutcome, build_case, evaluate, scan
from salvo.playbooks.evaluate.votes import Vote

if TYPE_CHECKING:
    from salvo.playbooks.store.store import EvaluationStore

OnProgress = Callable[[QuestionBatch, BatchProgress | None, ProviderError | None], None]
"""Gets a batch that was submitted, asked for, or could not be."""


@dataclass(slots=True)
class _EvaluationBatches:
    """A `BatchStore` in the row of one evaluation. Answers are not stored here: they become votes at once."""

    store: EvaluationStore
    evaluation_id: str
    questions_sha256: str
    answers: Mapping[str, ItemAnswer] = field(default_factory=dict)

    def save(self, batch: QuestionBatch) -> None:
        if not batch.has_ended:
            self.save_state(batch, waits=False)

    def save_state(self, batch: QuestionBatch, *, waits: bool) -> None:
        document = {"questions_sha256": self.questions_sha256, "batch": json_codec.plain(batch)}
        self.store.save_batch(self.evaluation_id, document, waits=waits)

    def save_answers(self, batch: QuestionBatch, answers: Mapping[str, ItemAnswer]) -> None:  # noqa: ARG002 - one batch
        self.answers = answers


async def submit_evaluation(
    request: EvaluationRequest,
    context: EvaluationContext,
    endpoint: Endpoint,
    recorder: StoreRecorder,
    on_progress: OnProgress,
) -> None:
    """Store the evaluation, and send its questions. A failure leaves it waiting: `collect_evaluation` sends them."""
    tape = await _questions(request, context)
    questions = _stored_questions(request, tape)
    if sum(len(json_codec.dumps(question.body)) for question in questions) > MOST_BYTES:
        raise UsageError(
            "The questions are too large for one batch: each of them has the whole text.",
            hint="Evaluate it without --batch-api. Nothing was sent.",
        )
    recorder.start(request)
    batches, client = _client(request, context, endpoint, recorder.store, tape)
    keeper = EvaluationRecorder(lambda: recorder, request, already_stored=True)
    async with keeper.renewing_lease():
        for batch in client.plan(questions):
            await _submit(client, batches, batch, tape, None, on_progress)


async def collect_evaluation(
    request: EvaluationRequest,
    context: EvaluationContext,
    endpoint: Endpoint,
    recorder: StoreRecorder,
    document: Mapping[str, Any],
    earlier_votes: Sequence[Vote],
    on_progress: OnProgress,
    *,
    wait: float | None,
    known_ids: frozenset[str],
) -> EvaluationOutcome | None:
    """Complete an evaluation that this process has resumed; None if its answers have not come yet.

    `wait` are the seconds between two looks; None looks once. `known_ids` are the batches of other evaluations.
    """
    tape = await _questions(request, context)
    batches, client = _client(request, context, endpoint, recorder.store, tape)
    batch = _parse_batch(document, batches.questions_sha256)
    keeper = EvaluationRecorder(lambda: recorder, request, already_stored=True)
    async with keeper.renewing_lease():
        if not batch.is_submitted:
            batch = await _submit(client, batches, batch, tape, known_ids, on_progress)
        while batch.is_submitted and not batch.has_ended:
            try:
                batch, progress = await client.fetch(batch)
            except ProviderError as error:
                on_progress(batch, None, error)
            else:
                on_progress(batch, progress, None)
            if batch.has_ended:
                break
            if wait is None:
                batches.save_state(batch, waits=True)
                return None
            await context.clock.sleep(wait)
    if not batch.has_ended:
        return None
    for position, exchange in enumerate(tape.exchanges):
        write_answer(exchange, batches.answers.get(batch.custom_id(position)), batch.batch_id)
    answered = replace(context, wire=AnswerWire(tape, context.redactor))
    return await evaluate(request, answered, earlier_votes, already_stored=True)


async def _submit(
    client: BatchClient,
    batches: _EvaluationBatches,
    batch: QuestionBatch,
    tape: Tape,
    known_ids: frozenset[str] | None,
    on_progress: OnProgress,
) -> QuestionBatch:
    try:
        batch = await client.submit(batch, [question_body(exchange) for exchange in tape.exchanges], known_ids)
    except ProviderError as error:
        on_progress(batch, None, error)
    else:
        on_progress(batch, None, None)
    batches.save_state(batch, waits=True)
    return batch


async def _questions(request: EvaluationRequest, context: EvaluationContext) -> Tape:
    """Return the questions of all votes, in the order of the playbook."""
    scan_result = await in_killable_thread(scan, request)
    wire = DeferringWire(context.redactor)
    cases = [build_case(request, scan_result, check, run) for check, run in request.cases]
    await gather(context.judge.judge(case, wire) for case in cases)
    return wire.questions


def _stored_questions(request: EvaluationRequest, tape: Tape) -> list[StoredQuestion]:
    return [
        StoredQuestion(
            request.report_id, position, exchange.request.endpoint, exchange.request.path, question_body(exchange)
        )
        for position, exchange in enumerate(tape.exchanges)
    ]


def _client(
    request: EvaluationRequest, context: EvaluationContext, endpoint: Endpoint, store: EvaluationStore, tape: Tape
) -> tuple[_EvaluationBatches, BatchClient]:
    content = json_codec.dumps([question_body(exchange) for exchange in tape.exchanges])
    batches = _EvaluationBatches(store, request.report_id, hashlib.sha256(content).hexdigest())
    if context.wire is None or context.judge.provider is None:
        raise UsageError("The rules are not asked through a batch API.", hint="Name a model as evaluator.")
    return batches, BatchClient(context.wire, {context.judge.provider: endpoint}, context.clock, batches)


def _parse_batch(document: Mapping[str, Any], questions_sha256: str) -> QuestionBatch:
    try:
        batch = type_adapter(QuestionBatch).validate_python(document.get("batch"))
    except ValidationError as error:
        raise UsageError("The stored batch of this evaluation is damaged.", hint=_ASK_DIRECTLY) from error
    if document.get("questions_sha256") != questions_sha256:
        raise UsageError(
            "This version of Salvo asks other questions than those that were sent, so the answers do not fit.",
            hint=f"Collect with the version that sent them. {_ASK_DIRECTLY}",
        )
    return batch


_ASK_DIRECTLY = "Or ask directly: byop run --resume ID"
