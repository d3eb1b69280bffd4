"""Run the evaluations of one command, with their progress on stderr."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from salvo.cli.byop.evaluation_display import EvaluationDisplay
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.console import ProgressLine
from salvo.cli.exit_codes import ExitCode
from salvo.engine.runtime.pool import Pool, PoolStopped, cancel_on_interrupt, gather
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Status
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import EvaluationOutcome, evaluate
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.report import Report
from salvo.records import record


@record
class EvaluationJob:
    """The evaluation by one evaluator. `already_stored`: the store has the request and the earlier votes."""

    config: EvaluatorConfig
    request: EvaluationRequest
    earlier_votes: Sequence[Vote] = ()
    already_stored: bool = False


def run_evaluations(jobs: Sequence[EvaluationJob], lazy_store: LazyStore | None, concurrency: int) -> EvaluationResults:
    """Run all jobs at the same time, with a common limit of calls."""
    if lazy_store is not None and len(jobs) > 1:
        lazy_store.group = min(job.request.report_id for job in jobs)
    progress = ProgressLine()
    for notice in dict.fromkeys(map(destination_notice, jobs)):
        progress.print(notice)
    try:
        return asyncio.run(_run_all(jobs, lazy_store, concurrency, progress))
    finally:
        progress.clear()


async def _run_all(
    jobs: Sequence[EvaluationJob], lazy_store: LazyStore | None, concurrency: int, progress: ProgressLine
) -> EvaluationResults:
    pool = Pool(concurrency)
    display = EvaluationDisplay(progress, jobs[0].config.clock)

    async def run(job: EvaluationJob) -> EvaluationOutcome:
        open_recorder = partial(lazy_store.recorder, job.config.settings) if lazy_store else None
        listener = display.listener(f"{job.config.label}: " if len(jobs) > 1 else "")
        async with job.config.session(pool=pool, open_recorder=open_recorder, on_event=listener) as context:
            return await evaluate(job.request, context, job.earlier_votes, already_stored=job.already_stored)

    with cancel_on_interrupt(pool, "interrupted"):
        async with display.refreshing():
            outcomes = await gather(map(run, jobs))
    resumable = lazy_store is not None and lazy_store.in_full
    return EvaluationResults(jobs, outcomes, interrupted=pool.is_cancelled, resumable=resumable)


@record
class EvaluationResults:
    """The outcome of every job, and the exit code of the command."""

    jobs: Sequence[EvaluationJob]
    outcomes: Sequence[EvaluationOutcome]
    interrupted: bool
    resumable: bool = False
    """Whether the texts are stored, so that missing votes can be requested later."""

    @property
    def reports(self) -> list[Report]:
        return [outcome.report for outcome in self.outcomes if isinstance(outcome.report, Report)]

    @property
    def labels(self) -> list[str]:
        """Return a name for each report that no other one has: the evaluator's, with its address where that differs."""
        configs = [
            job.config
            for job, outcome in zip(self.jobs, self.outcomes, strict=True)
            if isinstance(outcome.report, Report)
        ]
        names = Counter(config.name for config in configs)
        labels = [config.name if names[config.name] == 1 else config.label for config in configs]
        repeated = Counter(labels)
        return [label if repeated[label] == 1 else f"{label} #{number}" for number, label in enumerate(labels, start=1)]

    @property
    def stored_reports(self) -> list[Report]:
        stored = [outcome for outcome in self.outcomes if not outcome.store_error]
        return [outcome.report for outcome in stored if isinstance(outcome.report, Report)]

    @property
    def notices(self) -> Iterator[str]:
        for job, outcome in zip(self.jobs, self.outcomes, strict=True):
            if outcome.store_error:
                yield f"This could not be stored. {outcome.store_error}"
            elif isinstance(outcome.report, PoolStopped):
                yield f"Interrupted. The votes are stored; continue with `byop run --resume {job.request.report_id}`."
            elif outcome.report.incomplete:
                yield from self._incomplete_notice(job)

    def _incomplete_notice(self, job: EvaluationJob) -> Iterator[str]:
        """Say what to do on the command line about missing votes."""
        endpoint = job.config.endpoint
        key = f" The key is read from {endpoint.key_variable}." if endpoint and endpoint.key_variable else ""
        again = f"`byop run --resume {job.request.report_id}`" if self.resumable else "the same command"
        yield f"Votes are missing.{key} Correct the cause, then run {again}."

    def exit_code(self, fail_on: str) -> ExitCode:
        """Return the first that applies: interrupted, failed, not judged, or OK.

        An incomplete report is not judged, whatever its checks with enough votes say.
        """
        if self.interrupted:
            return ExitCode.INTERRUPTED
        complete = [report for report in self.reports if not report.incomplete]
        if any(report.summary.overall_status.reaches(Status(fail_on.upper())) for report in complete):
            return ExitCode.FAILED
        if any(outcome.store_error for outcome in self.outcomes) or any(report.incomplete for report in self.reports):
            return ExitCode.NOT_JUDGED
        return ExitCode.OK


def destination_notice(job: EvaluationJob) -> str:
    """Return the sentence that is shown before anything is sent."""
    endpoint = job.config.endpoint
    request = job.request
    if endpoint is None:
        return f"Evaluating with {request.evaluator}: nothing leaves this machine."
    questions = len(request.cases) - len(job.earlier_votes)
    tokens = sum(len(text) for text in request.inputs.texts.values() if text) // 4
    return (
        f"The text is sent to {endpoint.place} ({request.evaluator}): {pluralize(questions, 'question')} "
        f"with about {tokens:,} tokens of text each."
    )
