"""`byop run --batch-api` and `byop collect`: evaluations whose questions go through a provider's batch API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from salvo.cli.byop.evaluation_session import EvaluationJob, EvaluationResults, destination_notice
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo
from salvo.engine.batches.base import BatchProgress
from salvo.engine.batches.client import QuestionBatch
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import ProviderError, UsageError
from salvo.playbooks.evaluate.batching import collect_evaluation, submit_evaluation
from salvo.playbooks.evaluate.runner import EvaluationOutcome
from salvo.playbooks.store.records import State, StoredEvaluation

if TYPE_CHECKING:
    from salvo.playbooks.store.store import EvaluationStore


def submit_evaluations(jobs: Sequence[EvaluationJob], lazy_store: LazyStore) -> ExitCode:
    """Send the questions of all jobs. Their reports come with `byop collect`."""
    if any(job.config.endpoint is None for job in jobs):
        raise UsageError("The rules are not asked through a batch API.", hint="Name models as evaluators.")
    if len(jobs) > 1:
        lazy_store.group = min(job.request.report_id for job in jobs)

    async def submit(job: EvaluationJob) -> None:
        recorder = lazy_store.recorder(job.config.settings)
        endpoint = job.config.endpoint
        async with job.config.session() as context:
            if endpoint is not None:
                await submit_evaluation(job.request, context, endpoint, recorder, show_progress)

    for notice in dict.fromkeys(map(destination_notice, jobs)):
        echo(notice, err=True)
    for job in jobs:
        asyncio.run(submit(job))
        echo(
            f"The evaluation {job.request.report_id} waits for the provider's batch, which takes up to a day. "
            f"Complete it with: byop collect {job.request.report_id}",
            err=True,
        )
    return ExitCode.NOT_JUDGED


def collectable(store: EvaluationStore, evaluation_id: str | None) -> list[StoredEvaluation]:
    """Return the evaluation of this id, or all that wait for a provider's batch."""
    if evaluation_id is not None:
        return [store.load(store.find(evaluation_id))]
    return [store.load(evaluation_id) for evaluation_id in store.batched()]


def known_batches(store: EvaluationStore) -> frozenset[str]:
    """Return the provider's ids of all batches that wait."""
    documents = (store.load(waiting).batch or {} for waiting in store.batched())
    batches = (document.get("batch") for document in documents)
    ids = (batch.get("batch_id") for batch in batches if isinstance(batch, dict))
    return frozenset(text for text in ids if isinstance(text, str) and text)


def collect_jobs(
    jobs: Sequence[tuple[EvaluationJob, StoredEvaluation]], lazy_store: LazyStore, wait: float | None
) -> EvaluationResults:
    """Complete what the provider has answered. Jobs that still wait are not among the results."""
    store = lazy_store.store()
    known_ids = known_batches(store)
    finished, outcomes = [], []
    for job, stored in jobs:
        store.resume(stored.id, collects_batch=True)
        outcome = asyncio.run(_collect(job, stored, lazy_store, wait, known_ids))
        if outcome is not None:
            finished.append(job)
            outcomes.append(outcome)
    return EvaluationResults(finished, outcomes, interrupted=False, resumable=True)


async def _collect(
    job: EvaluationJob, stored: StoredEvaluation, lazy_store: LazyStore, wait: float | None, known_ids: frozenset[str]
) -> EvaluationOutcome | None:
    recorder = lazy_store.recorder(job.config.settings)
    endpoint = job.config.endpoint
    async with job.config.session(open_recorder=lambda: recorder) as context:
        if endpoint is None or stored.batch is None:
            return None
        return await collect_evaluation(
            job.request,
            context,
            endpoint,
            recorder,
            stored.batch,
            job.earlier_votes,
            show_progress,
            wait=wait,
            known_ids=known_ids,
        )


def show_progress(batch: QuestionBatch, progress: BatchProgress | None, error: ProviderError | None) -> None:
    questions = f"{pluralize(len(batch.questions), 'question')} to {printable(batch.model)}"
    name = printable(batch.batch_id)
    if error is not None:
        echo(f"{name or questions}: {printable(str(error))}", err=True)
    elif progress is None:
        echo(f"{questions} sent to the batch API as {name}.", err=True)
    else:
        done = "" if progress.done is None or progress.has_ended else f", {progress.done} done"
        echo(f"{name}: {printable(progress.status)}{done} ({questions}).", err=True)


def is_waiting(stored: StoredEvaluation) -> bool:
    """Return whether an evaluation can be collected: also if a process was killed while it did."""
    return stored.batch is not None and stored.report is None and stored.state is not State.CANCELLED
