"""Evaluations under way: their progress on stderr, and what came of them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salvo.cli.console import ProgressLine
from salvo.cli.exit_codes import ExitCode
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.wire.retry import Wait
from salvo.errors import UsageError

if TYPE_CHECKING:
    from salvo.cli.byop.lazy_store import LazyStore
    from salvo.playbooks.evaluate.request import EvaluationRequest
    from salvo.playbooks.evaluate.runner import EvaluationOutcome, Event
    from salvo.playbooks.evaluate.session import EvaluatorConfig
    from salvo.playbooks.evaluate.votes import Vote
    from salvo.playbooks.report.report import Report


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """One evaluator's work, with votes that it takes over. `already_stored`: the store has it and those votes."""

    desk: EvaluatorConfig
    order: EvaluationRequest
    earlier: Sequence[Vote] = ()
    already_stored: bool = False


class EvaluationSession:
    """Every job at once, over one pool of calls."""

    def __init__(self, jobs: Sequence[EvaluationJob], place: LazyStore | None, progress: ProgressLine) -> None:
        self._jobs = jobs
        self._place = place
        self._progress = progress
        self._interrupted = False
        if place is not None and len(jobs) > 1:
            place.group = min(job.order.report_id for job in jobs)

    def execute(self, concurrency: int) -> EvaluationResults:
        for sentence in dict.fromkeys(map(destination_notice, self._jobs)):
            self._progress.print(sentence)
        try:
            done = asyncio.run(self._all(concurrency))
        finally:
            self._progress.clear()
        return EvaluationResults(self._jobs, done, interrupted=self._interrupted)

    async def _all(self, concurrency: int) -> list[EvaluationOutcome]:
        pool = Pool(concurrency)

        def interrupt() -> None:
            self._interrupted = True
            pool.cancel("interrupted")

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
        return await gather(self._one(job, pool) for job in self._jobs)

    async def _one(self, job: EvaluationJob, pool: Pool) -> EvaluationOutcome:
        from salvo.playbooks.evaluate.runner import evaluate

        open_recorder = self._place.recorder if self._place else None
        async with job.desk.session(pool=pool, open_recorder=open_recorder, on_event=self._listener(job)) as session:
            return await evaluate(job.order, session, job.earlier, already_stored=job.already_stored)

    def _listener(self, job: EvaluationJob) -> Callable[[Event], None]:
        who = f"{job.desk.name}: " if len(self._jobs) > 1 else ""
        shown = ""

        def on_event(event: Event) -> None:
            nonlocal shown
            if isinstance(event, Wait):
                self._progress.update(f"{who}{shown} ({event})", milestone=event.seconds >= 1)
                return
            shown = event.progress
            self._progress.update(f"{who}{shown}", milestone=True)

        return on_event


@dataclass(frozen=True, slots=True)
class EvaluationResults:
    """What came of every job, and how the command ends."""

    jobs: Sequence[EvaluationJob]
    done: Sequence[EvaluationOutcome]
    interrupted: bool

    @property
    def reports(self) -> list[Report]:
        return [each.report for each in self.done if not isinstance(each.report, PoolStopped)]

    @property
    def kept(self) -> list[Report]:
        """The reports that are in the store, where one was asked for."""
        return [each.report for each in self.done if not (isinstance(each.report, PoolStopped) or each.store_error)]

    @property
    def told(self) -> Iterable[str]:
        """What a person must know beside the reports."""
        for job, each in zip(self.jobs, self.done, strict=True):
            if each.store_error:
                yield f"This could not be stored. {each.store_error}"
            elif isinstance(each.report, PoolStopped):
                yield f"Interrupted. What was judged is kept: byop run --resume {job.order.report_id} goes on."

    def exit_code(self, fail_on: str) -> ExitCode:
        """By precedence: interrupted, failed, not judged."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if any(_reaches(report, fail_on) for report in self.reports):
            return ExitCode.FAILED
        if any(each.store_error for each in self.done) or any(report.incomplete for report in self.reports):
            return ExitCode.NOT_JUDGED
        return ExitCode.OK


def _reaches(report: Report, fail_on: str) -> bool:
    from salvo.playbooks.enums import Status
    from salvo.playbooks.report.builder import judged_status

    return judged_status(report).reaches(Status(fail_on.upper()))


def key_in(variable: str | None) -> str | None:
    """The provider's key from a variable of the environment that somebody named."""
    if variable is None:
        return None
    if not os.environ.get(variable):
        raise UsageError(f"{variable} is not set, so there is no key to send.", hint="Set it, or leave the option out.")
    return os.environ[variable]


def destination_notice(job: EvaluationJob) -> str:
    """Said before anything is sent."""
    endpoint = job.desk.endpoint
    order = job.order
    questions = len(order.cases) - len(job.earlier)
    if endpoint is None:
        return f"Evaluating with {order.evaluator}: nothing leaves this machine."
    tokens = sum(len(text) for text in order.inputs.texts.values() if text) // 4
    return (
        f"The text goes to {endpoint.host} ({order.evaluator}): {questions} questions, "
        f"each with about {tokens:,} tokens of it."
    )
