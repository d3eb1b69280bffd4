"""One evaluation that this server runs or has queued, and its state for those who watch it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

from salvo.engine.runtime.pool import Pool, PoolStopped
from salvo.engine.wire.retry import Wait
from salvo.errors import LeaseLostError, SalvoError, StoreError
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import Event, OpenCalls, evaluate
from salvo.playbooks.evaluate.session import CONCURRENCY, EvaluatorConfig
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.evidence.citations import withhold_claims
from salvo.playbooks.store.records import ErrorDetail
from salvo.playbooks.store.store import EvaluationStore
from salvo.records import record
from salvo.web.responses import error_detail


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """Stopped before the end. Its votes are stored, and it can be resumed."""
    BATCHED = "batched"
    """Its questions wait for a provider's batch; `byop collect` completes it."""
    FAILED = "failed"
    """Because of an error in the server, or because it could not be stored."""

    @property
    def is_final(self) -> bool:
        return self not in (JobState.QUEUED, JobState.RUNNING)


@record
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


@record
class WaitingCall:
    """One call that waits before it is sent again."""

    name: str
    """The check and the run that it is for."""
    seconds: float
    """How long it still waits."""
    reason: str


@record
class RetryNotice:
    """Calls are retried, because the provider asked for it or gave no answer. The longest wait is `seconds`."""

    seconds: float
    reason: str
    calls: tuple[WaitingCall, ...] = ()
    """Every call that waits, the longest wait first."""


@record
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
        *,
        is_shared: bool = False,
        group: str | None = None,
    ) -> None:
        """Blocks: the notes of the earlier votes are checked. The config is not kept, because it holds the key.

        `is_shared`: another server can run it as well. `group`: the batch of documents that it belongs to.
        """
        self.request = request
        self.created_at = created_at
        self.is_shared = is_shared
        self.group = group
        self.is_lost = False
        """Whether this server stopped running it, and another one may run it."""
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
        self.changed = asyncio.Event()
        """Set at the next change, and then replaced by a new event."""
        self.finished = asyncio.Event()
        self._earlier_votes = [vote for _, vote in earlier_votes]
        self._end_state = JobState.INTERRUPTED
        self._stopped_by: str | None = None
        self._summaries: dict[tuple[str, int], VoteSummary] = {}

    @property
    def id(self) -> str:
        return self.request.report_id

    @property
    def waiting(self) -> RetryNotice | None:
        """The calls that wait before they are retried. Answers to other calls do not end their waits."""
        now = self._clock.monotonic()
        waits = [(until, lane, notice) for lane, (until, notice) in self._waits.items() if until > now]
        if not waits:
            return None
        waits.sort(key=lambda wait: wait[0], reverse=True)
        calls = tuple(WaitingCall(lane, round(until - now, 1), notice.reason) for until, lane, notice in waits)
        return replace(waits[0][2], calls=calls)

    @property
    def open_calls(self) -> OpenCallsNotice | None:
        """None if no model is called."""
        calls = self._open_calls
        if calls is None:
            return None
        return OpenCallsNotice(calls.count, int(self._clock.monotonic() - calls.oldest_start) if calls.count else 0)

    async def run(self, store: EvaluationStore, config: EvaluatorConfig, count_vote: Callable[[], None]) -> None:
        """Evaluate. The store has the request and the earlier votes already. `count_vote` is called for a new one."""
        recorder = _JobRecorder(store, self)
        on_event = partial(self._on_event, count_vote)
        async with config.session(pool=self.pool, open_recorder=lambda: recorder, on_event=on_event) as context:
            outcome = await evaluate(self.request, context, self._earlier_votes, already_stored=True)
        if self.is_lost and (outcome.store_error or isinstance(outcome.report, PoolStopped)):
            self._leave()
        elif outcome.store_error:
            self.fail(StoreError(f"This could not be stored. {outcome.store_error}"))
        else:
            self.end(self._end_state if isinstance(outcome.report, PoolStopped) else JobState.DONE)

    def stop(self, end_state: JobState, user: str | None = None) -> None:
        """Stop the calls in progress. Votes that were stored stay. `user` is who asked for it and is logged in."""
        self._end_state = end_state
        self._stopped_by = user
        # Another server continues what is interrupted here, if it can.
        self.is_lost = self.is_shared and end_state is JobState.INTERRUPTED
        self.pool.cancel(end_state)

    def lose(self) -> None:
        """Stop because another server runs the evaluation, or it was cancelled there. Nothing more is stored."""
        self.is_shared = False
        self.is_lost = True
        self.pool.cancel("lost")

    def summarize(self, sequence: int, vote: Vote) -> None:
        """Prepare what is shown of a vote. Blocks, because the notes of a judge may be long."""
        self._summaries[vote.key] = VoteSummary.from_vote(sequence, vote)

    def save_end_state(self, store: EvaluationStore) -> None:
        """Store that the job was stopped. Blocks."""
        if self._end_state is JobState.CANCELLED:
            store.cancel(self.id, user=self._stopped_by)
        elif self.is_lost:
            if self.is_shared:
                store.queue.release(self.id)
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
        if self.is_lost and state is JobState.INTERRUPTED:
            self._leave()
            return
        self.is_lost = False
        self.state = state
        self.queue_position = None
        self._waits.clear()
        self._open_calls = None
        self.finished.set()
        self._notify()

    def _leave(self) -> None:
        """End without an end state: whoever watches goes on with what is stored."""
        self.finished.set()
        self._notify()

    def _on_event(self, count_vote: Callable[[], None], event: Event) -> None:
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
                count_vote()
        self._notify()

    def _notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class _JobRecorder(StoreRecorder):
    """Records a job whose request is in the store. A job that is stopped was cancelled by a user or interrupted."""

    def __init__(self, store: EvaluationStore, job: Job) -> None:
        super().__init__(store, group=job.group)
        self._job = job
        self._loop = asyncio.get_running_loop()

    def renew(self, evaluation_id: str) -> None:
        """The scheduler renews the leases of all jobs at once."""

    def save_votes(self, evaluation_id: str, votes: Sequence[Vote]) -> Sequence[int]:
        try:
            numbers = super().save_votes(evaluation_id, votes)
        except LeaseLostError:
            self._loop.call_soon_threadsafe(self._job.lose)
            raise
        for number, vote in zip(numbers, votes, strict=True):
            self._job.summarize(number, vote)
        return numbers

    def interrupt(self, evaluation_id: str) -> None:  # noqa: ARG002 - it records this job only
        self._job.save_end_state(self.store)
