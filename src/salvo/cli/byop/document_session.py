"""Evaluate the documents of one command, with their progress on stderr.

Every request is stored before the first call, so that a killed process loses no document.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from salvo.cli.byop.evaluation_display import EvaluationDisplay
from salvo.cli.byop.evaluation_session import EvaluationJob
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.console import ProgressLine
from salvo.engine.runtime.pool import Pool, PoolStopped, cancel_on_interrupt, gather
from salvo.engine.text.unicode_escape import printable
from salvo.errors import SalvoError, StoreError
from salvo.playbooks.enums import shown_status
from salvo.playbooks.evaluate.recorder import renewing
from salvo.playbooks.evaluate.runner import EvaluationOutcome, Event, evaluate
from salvo.playbooks.store.records import ErrorDetail
from salvo.records import record

AT_ONCE = 8
"""Documents that are evaluated at the same time. Their calls share one limit."""


@record
class DocumentOutcome:
    """What came of one document: an outcome, or the error that ended it."""

    job: EvaluationJob
    result: EvaluationOutcome | SalvoError

    @property
    def store_error(self) -> str:
        return "" if isinstance(self.result, SalvoError) else self.result.store_error


@record
class DocumentOutcomes:
    outcomes: Sequence[DocumentOutcome]
    interrupted: bool


def evaluate_documents(
    jobs: Sequence[EvaluationJob], titles: Sequence[str], lazy_store: LazyStore | None, concurrency: int
) -> DocumentOutcomes:
    """Evaluate the documents, whose requests are in the store if there is one. Ctrl-C ends all of them."""
    progress = ProgressLine()
    try:
        return asyncio.run(_evaluate_all(jobs, titles, lazy_store, concurrency, progress))
    finally:
        progress.clear()


async def _evaluate_all(
    jobs: Sequence[EvaluationJob],
    titles: Sequence[str],
    lazy_store: LazyStore | None,
    concurrency: int,
    progress: ProgressLine,
) -> DocumentOutcomes:
    pool = Pool(concurrency)
    places = asyncio.Semaphore(AT_ONCE)
    display = EvaluationDisplay(progress, jobs[0].config.clock)
    unfinished = {job.request.report_id for job in jobs}

    async def run(job: EvaluationJob, title: str) -> DocumentOutcome:
        async with places:
            listener = display.listener(f"{printable(title)}: ", milestones=False)
            outcome = DocumentOutcome(job, await _evaluate_one(job, lazy_store, pool, listener))
        unfinished.discard(job.request.report_id)
        if not pool.is_cancelled:
            done = len(jobs) - len(unfinished)
            progress.print(f"{done} of {len(jobs)}: {printable(title)}: {_ending(outcome)}")
        return outcome

    with cancel_on_interrupt(pool, "interrupted"):
        async with display.refreshing(), _renewing_leases(lazy_store, unfinished):
            outcomes = await gather(run(job, title) for job, title in zip(jobs, titles, strict=True))
    return DocumentOutcomes(outcomes, pool.is_cancelled)


async def _evaluate_one(
    job: EvaluationJob, lazy_store: LazyStore | None, pool: Pool, listener: Callable[[Event], None]
) -> EvaluationOutcome | SalvoError:
    open_recorder = partial(lazy_store.recorder, job.config.settings) if lazy_store else None
    try:
        async with job.config.session(pool=pool, open_recorder=open_recorder, on_event=listener) as context:
            return await evaluate(
                job.request, context, job.earlier_votes, already_stored=job.already_stored and lazy_store is not None
            )
    except SalvoError as error:  # the other documents are evaluated all the same
        if lazy_store is not None:
            with suppress(StoreError):
                detail = ErrorDetail("failed", error.message, error.hint)
                await asyncio.to_thread(lazy_store.store().fail, job.request.report_id, detail)
        return error


def _ending(outcome: DocumentOutcome) -> str:
    result = outcome.result
    if isinstance(result, SalvoError):
        return f"could not be finished. {result.message}"
    if isinstance(result.report, PoolStopped):
        return "stopped"
    return str(shown_status(result.report.summary.overall_status, incomplete=result.report.incomplete))


@asynccontextmanager
async def _renewing_leases(lazy_store: LazyStore | None, unfinished: set[str]) -> AsyncIterator[None]:
    """Renew the leases of all documents that are not finished, so that no server takes those that wait here."""
    if lazy_store is None:
        yield
        return

    async def renew() -> None:
        await asyncio.to_thread(lazy_store.store().queue.renew, sorted(unfinished))

    async with renewing(renew):
        yield
