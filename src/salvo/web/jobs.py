"""Evaluations in progress: a limited number run at the same time, the others wait in a queue."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from salvo.engine.runtime.pool import Pool, PoolStopped
from salvo.engine.wire.retry import Wait
from salvo.errors import SalvoError, StoreError
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import Event, OpenCalls, evaluate
from salvo.playbooks.evaluate.session import CONCURRENCY, EvaluatorConfig
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.citations import withhold_claims
from salvo.playbooks.store.records import ErrorDetail
from salvo.playbooks.store.store import EvaluationStore
from salvo.web.responses import BusyError, error_detail

_log = logging.getLogger(__name__)
T = TypeVar("T")

QUEUE_LIMIT = 200
"""Queued evaluations; each holds its texts in memory."""
_REMEMBERED = 1000
"""Client tokens and failed evaluations."""


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """Stopped before the end. Its votes are stored, and it can be resumed."""
    FAILED = "failed"
    """Because of an error in the server, or because it could not be stored."""

    @property
    def is_final(self) -> bool:
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class VoteSummary:
    """One answer to one check. `sequence` is its number in the store and the id of its event."""

    sequence: int
    check_id: str
    run: int
    result: Result
    valid: bool
    """False if the answer does not count as a vote; `problem` says why."""
    confidence: float | None
    notes: str
    problem: str

    @classmethod
    def from_vote(cls, sequence: int, vote: Vote) -> VoteSummary:
        ballot = vote.answer
        return cls(
            sequence=sequence,
            check_id=vote.check_id,
            run=vote.run,
            result=ballot.result or Result.INDETERMINATE,
            valid=ballot.result is not None,
            confidence=ballot.confidence,
            notes=withhold_claims(ballot.notes),
            problem=withhold_claims(ballot.problem),
        )


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """A call is retried after `seconds`, because the provider asked for it or gave no answer."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class OpenCallsNotice:
    """Calls to the evaluator that have not been answered yet."""

    count: int
    seconds: int
    """For how long the oldest of them has been waiting."""


class Job:
    """One evaluation from its request to its end, and its state for those who watch it."""

    def __init__(
        self,
        request: EvaluationRequest,
        created_at: str,
        config: EvaluatorConfig,
        earlier_votes: Sequence[tuple[int, Vote]] = (),
        warnings: tuple[str, ...] = (),
    ) -> None:
        """Blocks: the notes of the earlier votes are checked. The config is not kept, because it holds the key."""
        self.request = request
        self.created_at = created_at
        self.base_url = config.base_url
        self._clock = config.clock
        self.pool = Pool(CONCURRENCY)
        self.state = JobState.QUEUED
        self.queue_position: int | None = None
        self.votes = [VoteSummary.from_vote(sequence, vote) for sequence, vote in earlier_votes]
        self.total = len(request.cases)
        self.done = len(self.votes)
        self.progress = ""
        self._waits: dict[str, tuple[float, RetryNotice]] = {}
        """By the lane of the call: until when it waits, by the monotonic clock, and what is shown of it."""
        self._open_calls: OpenCalls | None = None
        self.problem: ErrorDetail | None = None
        self.warnings = warnings
        self.changed = asyncio.Event()
        """Set at the next change, and then replaced by a new event."""
        self.finished = asyncio.Event()
        self._earlier_votes = [vote for _, vote in earlier_votes]
        self._end_state = JobState.INTERRUPTED
        self._summaries: dict[tuple[str, int], VoteSummary] = {}

    @property
    def id(self) -> str:
        return self.request.report_id

    @property
    def waiting(self) -> RetryNotice | None:
        """The call that waits longest before it is retried. Answers to other calls do not end its wait."""
        now = self._clock.monotonic()
        until, notice = max(self._waits.values(), key=lambda wait: wait[0], default=(now, None))
        return notice if until > now else None

    @property
    def open_calls(self) -> OpenCallsNotice | None:
        """None if no model is called."""
        calls = self._open_calls
        if calls is None:
            return None
        return OpenCallsNotice(calls.count, int(self._clock.monotonic() - calls.oldest_start) if calls.count else 0)

    async def run(self, store: EvaluationStore, config: EvaluatorConfig) -> None:
        """Evaluate. The store has the request and the earlier votes already."""
        recorder = _JobRecorder(store, self)
        async with config.session(pool=self.pool, open_recorder=lambda: recorder, on_event=self._on_event) as context:
            outcome = await evaluate(self.request, context, self._earlier_votes, already_stored=True)
        if outcome.store_error:
            self.fail(StoreError(f"This could not be stored. {outcome.store_error}"))
        else:
            self.end(self._end_state if isinstance(outcome.report, PoolStopped) else JobState.DONE)

    def stop(self, end_state: JobState) -> None:
        """Stop the calls in progress. Votes that were stored stay."""
        self._end_state = end_state
        self.pool.cancel(end_state)

    def summarize(self, sequence: int, vote: Vote) -> None:
        """Prepare what is shown of a vote. Blocks, because the notes of a judge may be long."""
        self._summaries[vote.key] = VoteSummary.from_vote(sequence, vote)

    def save_end_state(self, store: EvaluationStore) -> None:
        """Store that the job was stopped. Blocks."""
        if self._end_state is JobState.CANCELLED:
            store.cancel(self.id)
        else:
            store.interrupt(self.id)

    def move(self, position: int) -> None:
        if position != self.queue_position:
            self.queue_position = position
            self._notify()

    def begin(self) -> None:
        self.state = JobState.RUNNING
        self.queue_position = None
        self._notify()

    def fail(self, error: SalvoError) -> None:
        self.problem = error_detail(error)
        self.end(JobState.FAILED)

    def end(self, state: JobState) -> None:
        self.state = state
        self.queue_position = None
        self._waits.clear()
        self._open_calls = None
        self.finished.set()
        self._notify()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Wait):
            reason = "rate limited" if event.status == 429 else event.problem
            notice = RetryNotice(round(event.seconds, 1), reason)
            self._waits[event.request.lane] = self._clock.monotonic() + event.seconds, notice
        elif isinstance(event, OpenCalls):
            self._open_calls = event
        else:
            self.progress, self.done, self.total = event.progress, event.answered, event.total
            if event.vote is not None and event.sequence is not None:
                self.votes.append(self._summaries.pop(event.vote.key))
        self._notify()

    def _notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class _JobRecorder(StoreRecorder):
    """Records a job whose request is in the store. A job that is stopped was cancelled by a user or interrupted."""

    def __init__(self, store: EvaluationStore, job: Job) -> None:
        super().__init__(store)
        self._job = job

    def save_votes(self, evaluation_id: str, votes: Sequence[Vote]) -> Sequence[int]:
        numbers = super().save_votes(evaluation_id, votes)
        for number, vote in zip(numbers, votes, strict=True):
            self._job.summarize(number, vote)
        return numbers

    def interrupt(self, evaluation_id: str) -> None:  # noqa: ARG002 - it records this job only
        self._job.save_end_state(self.store)


class Jobs:
    """Every evaluation of this process that has not ended. At most `limit` of them run at the same time."""

    def __init__(self, store: EvaluationStore, limit: int) -> None:
        self._store = store
        self._limit = limit
        self._jobs: dict[str, Job] = {}
        self._queue: OrderedDict[str, EvaluatorConfig] = OrderedDict()
        """By job id. The config holds the API key, which exists only until the job ends."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._problems: OrderedDict[str, ErrorDetail] = OrderedDict()
        self._started: OrderedDict[str, asyncio.Task[Job]] = OrderedDict()
        self._closing = False

    def find(self, evaluation_id: str) -> Job | None:
        return self._jobs.get(evaluation_id)

    def problem(self, evaluation_id: str) -> ErrorDetail | None:
        """Return why an evaluation failed since the server started, even if that could not be stored."""
        return self._problems.get(evaluation_id)

    async def start_once(self, token: str | None, start: Callable[[], Coroutine[Any, Any, Job]]) -> Job:
        """Return the job that was started with this token; start one if there is none."""
        if token is None:
            return await start()
        if token not in self._started:
            self._started[token] = asyncio.create_task(start())
            _forget_oldest(self._started)
        try:
            return await asyncio.shield(self._started[token])
        except SalvoError:
            self._started.pop(token, None)  # nothing was started, so the token can be used again
            raise

    async def start(
        self,
        request: EvaluationRequest,
        config: EvaluatorConfig,
        *,
        in_full: bool = True,
        earlier_votes: Sequence[Vote] = (),
        warnings: tuple[str, ...] = (),
    ) -> Job:
        """Store a new evaluation, with the votes that it takes over from another one, and queue it."""
        self._check_capacity()
        # The address is stored, so that a resumed evaluation does not send its texts somewhere else.
        recorder = StoreRecorder(self._store, in_full=in_full, settings=config.settings)
        created_at = config.clock.now().isoformat(timespec="milliseconds")
        numbers = await asyncio.to_thread(recorder.start, request, earlier_votes)
        votes = list(zip(numbers, earlier_votes, strict=True))
        job = await asyncio.to_thread(Job, request, created_at, config, votes, warnings)
        self._enqueue(job, config)
        return job

    async def resume(self, job: Job, config: EvaluatorConfig) -> None:
        """Queue an evaluation that is stored without a report."""
        self._check_capacity()
        if job.id in self._jobs:
            return
        self._jobs[job.id] = job  # before the first await, so that a second request finds it
        try:
            await asyncio.to_thread(self._store.resume, job.id)
        except BaseException:
            del self._jobs[job.id]
            raise
        self._enqueue(job, config)

    async def cancel(self, job: Job) -> None:
        """Stop a job and wait for its end."""
        await self._stop(job, JobState.CANCELLED)

    async def close(self) -> None:
        """Stop all jobs. Their votes are stored, and they can be resumed."""
        self._closing = True
        for job in list(self._jobs.values()):
            await self._stop(job, JobState.INTERRUPTED)

    def _check_capacity(self) -> None:
        if self._closing:
            raise BusyError("The server is shutting down.", hint="Start it again.")
        if len(self._queue) >= QUEUE_LIMIT:
            raise BusyError(
                f"{QUEUE_LIMIT} evaluations are queued already.", hint="Wait until some of them have finished."
            )

    def _enqueue(self, job: Job, config: EvaluatorConfig) -> None:
        self._jobs[job.id] = job
        self._problems.pop(job.id, None)
        self._queue[job.id] = config
        self._advance()

    def _advance(self) -> None:
        while self._queue and len(self._tasks) < self._limit and not self._closing:
            job_id, config = self._queue.popitem(last=False)
            job = self._jobs[job_id]
            job.begin()
            self._tasks[job_id] = asyncio.create_task(self._run(job, config))
        for position, job_id in enumerate(self._queue, start=1):
            self._jobs[job_id].move(position)

    async def _run(self, job: Job, config: EvaluatorConfig) -> None:
        try:
            await job.run(self._store, config)
        except SalvoError as error:
            await self._save_failure(job, error)
        except Exception as error:  # noqa: BLE001 - the other evaluations continue
            _log.exception("An evaluation failed because of an error in the server.")
            await self._save_failure(job, SalvoError(f"The server failed ({type(error).__name__})."))
        finally:
            del self._tasks[job.id]
            self._remove(job)

    async def _save_failure(self, job: Job, error: SalvoError) -> None:
        try:
            await asyncio.to_thread(self._store.fail, job.id, error_detail(error))
        except SalvoError as store_error:
            _log.warning("The failure of an evaluation could not be stored: %s", store_error)
        job.fail(error)

    async def _stop(self, job: Job, end_state: JobState) -> None:
        job.stop(end_state)
        if self._queue.pop(job.id, None) is not None:
            await asyncio.to_thread(job.save_end_state, self._store)
            job.end(end_state)
            self._remove(job)
        await job.finished.wait()

    def _remove(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        if job.problem is not None:
            self._problems[job.id] = job.problem
            _forget_oldest(self._problems)
        self._advance()


def _forget_oldest(entries: OrderedDict[str, T]) -> None:
    while len(entries) > _REMEMBERED:
        entries.popitem(last=False)
