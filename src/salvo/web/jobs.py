"""Evaluations under way: so many at once, the others in line, each with its key for as long as it lasts."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from salvo.engine.runtime.pool import Pool, PoolStopped
from salvo.engine.wire.retry import Wait
from salvo.errors import SalvoError, StoreError
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.runner import Event, VoteEvent, evaluate
from salvo.playbooks.evaluate.session import CONCURRENCY, EvaluatorConfig
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.checks import visible_note
from salvo.playbooks.store.records import StoredError
from salvo.playbooks.store.store import EvaluationStore
from salvo.web.responses import BusyError, ErrorDetail, problem_of

_log = logging.getLogger(__name__)
T = TypeVar("T")

BASE_URL = "base_url"
LONGEST_LINE = 200
"""Evaluations that wait; each holds its texts in memory."""
_REMEMBERED = 1000
"""Client tokens, and evaluations that failed."""


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """It ended before it was done; what was judged is kept, and it can be resumed."""
    FAILED = "failed"
    """By a fault of the server's own, or because it could not be stored."""

    @property
    def ended(self) -> bool:
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class VoteSeen:
    """One answer to one check. `sequence` is its number in the store, and the id of its event."""

    sequence: int
    check_id: str
    run: int
    result: Result
    valid: bool
    """False where it is no vote, and `problem` says why."""
    confidence: float | None
    notes: str
    problem: str

    @classmethod
    def of(cls, sequence: int, vote: Vote) -> VoteSeen:
        ballot = vote.ballot
        return cls(
            sequence=sequence,
            check_id=vote.check_id,
            run=vote.run,
            result=ballot.result or Result.INDETERMINATE,
            valid=ballot.result is not None,
            confidence=ballot.confidence,
            notes=visible_note(ballot.notes),
            problem=visible_note(ballot.problem),
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call is tried again after so many seconds, because the provider asked for it or gave no answer."""

    seconds: float
    reason: str


class Job:
    """One evaluation, from the moment it is asked for to its end. Whoever watches it looks at it after each change."""

    def __init__(
        self,
        order: EvaluationRequest,
        desk: EvaluatorConfig,
        created_at: str,
        *,
        in_full: bool = True,
        earlier: Sequence[tuple[int, Vote]] = (),
    ) -> None:
        self.order = order
        self.created_at = created_at
        self.base_url = desk.base_url
        self.in_full = in_full
        self.pool = Pool(CONCURRENCY)
        self.state = JobState.QUEUED
        self.position: int | None = None
        self.votes = [VoteSeen.of(sequence, vote) for sequence, vote in earlier]
        self.total = len(order.cases)
        self.done = len(self.votes)
        self.progress = ""
        self.waiting: Waiting | None = None
        self.problem: ErrorDetail | None = None
        self.changed = asyncio.Event()
        """Set at the next change, and another one takes its place."""
        self.over = asyncio.Event()
        self._desk: EvaluatorConfig | None = desk
        self._earlier = [vote for _, vote in earlier]
        self._ends_as = JobState.INTERRUPTED

    @property
    def id(self) -> str:
        return self.order.report_id

    async def run(self, store: EvaluationStore) -> None:
        """To its end, whatever that is; the key is gone after it."""
        desk, self._desk = self._desk, None
        assert desk is not None  # noqa: S101 - a job runs once
        recorder = _JobRecorder(store, self)
        async with desk.session(pool=self.pool, open_recorder=lambda: recorder, on_event=self._hear) as session:
            evaluated = await evaluate(self.order, session, self._earlier, already_stored=True)
        if evaluated.store_error:
            self.fail(StoreError(f"This could not be stored. {evaluated.store_error}"))
        else:
            self.end(self._ends_as if isinstance(evaluated.report, PoolStopped) else JobState.DONE)

    def stop(self, ends_as: JobState) -> None:
        """What is under way is given up on; what was judged stays."""
        self._ends_as = ends_as
        self.pool.cancel(ends_as)

    def put_down(self, store: EvaluationStore) -> None:
        """Writes how it ended. Blocks."""
        if self._ends_as is JobState.CANCELLED:
            store.cancel(self.id)
        else:
            store.interrupt(self.id)

    def move(self, position: int | None) -> None:
        if position != self.position:
            self.position = position
            self._tell()

    def begin(self) -> None:
        self.state = JobState.RUNNING
        self.position = None
        self._tell()

    def fail(self, fault: SalvoError) -> None:
        self.problem = problem_of(fault)
        self.end(JobState.FAILED)

    def end(self, state: JobState) -> None:
        self.state = state
        self.position = None
        self.waiting = None
        self._desk = None
        self.over.set()
        self._tell()

    def _hear(self, event: Event) -> None:
        if isinstance(event, Wait):
            reason = "rate limited" if event.status == 429 else event.problem
            self.waiting = Waiting(round(event.seconds, 1), reason)
        else:
            self.progress, self.done, self.total = event.progress, event.done, event.total
        if isinstance(event, VoteEvent):
            self.waiting = None
            if event.sequence is not None:
                self.votes.append(VoteSeen.of(event.sequence, event.vote))
        self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class _JobRecorder(StoreRecorder):
    """Records a job, which was stored when it was created. An interrupted job may have been cancelled by a user."""

    def __init__(self, store: EvaluationStore, job: Job) -> None:
        super().__init__(store, in_full=job.in_full)
        self._job = job

    def interrupt(self, evaluation_id: str) -> None:  # noqa: ARG002 - there is only the one
        self._job.put_down(self._store)


class Jobs:
    """Every evaluation of this process that is not over."""

    def __init__(self, store: EvaluationStore, at_once: int) -> None:
        self._store = store
        self._at_once = at_once
        self._jobs: dict[str, Job] = {}
        self._line: deque[Job] = deque()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: OrderedDict[str, ErrorDetail] = OrderedDict()
        self._asked: OrderedDict[str, asyncio.Future[Job]] = OrderedDict()
        self._closing = False

    def find(self, evaluation_id: str) -> Job | None:
        return self._jobs.get(evaluation_id)

    def problem(self, evaluation_id: str) -> ErrorDetail | None:
        """Why it failed, if it did since the server was started: also what the store could not be told."""
        return self._failed.get(evaluation_id)

    async def once(self, token: str | None, start: Callable[[], asyncio.Future[Job]]) -> Job:
        """The job that this token was given for; started now, unless it was before."""
        if token is None:
            return await start()
        if token not in self._asked:
            self._asked[token] = start()
            _forget_oldest(self._asked)
        asked = self._asked[token]
        try:
            return await asyncio.shield(asked)
        except SalvoError:
            self._asked.pop(token, None)  # nothing came of it, so it may be asked for again
            raise

    async def start(
        self, order: EvaluationRequest, desk: EvaluatorConfig, *, in_full: bool = True, earlier: Sequence[Vote] = ()
    ) -> Job:
        """Puts a new evaluation into the store, with votes it takes over from another, and then in line."""
        self._check_room()

        def begin() -> list[tuple[int, Vote]]:
            # Where it goes is kept: what was meant for one address is not sent to another when it is resumed.
            recorder = StoreRecorder(self._store, in_full=in_full, settings={BASE_URL: desk.base_url})
            return list(zip(recorder.start(order, earlier), earlier, strict=True))

        began = desk.clock.now().isoformat(timespec="milliseconds")
        return self._line_up(Job(order, desk, began, in_full=in_full, earlier=await asyncio.to_thread(begin)))

    async def go_on(self, job: Job) -> Job:
        """The same with one that is stored already."""
        self._check_room()
        if job.id in self._jobs:
            return self._jobs[job.id]
        self._jobs[job.id] = job  # before anything is awaited: a second request finds it
        try:
            await asyncio.to_thread(self._store.resume, job.id)
        except BaseException:
            del self._jobs[job.id]
            raise
        return self._line_up(job)

    async def cancel(self, job: Job) -> None:
        """Ends it, and returns when it is over."""
        await self._stop(job, JobState.CANCELLED)

    async def close(self) -> None:
        """Ends everything; what was judged stays, and can be resumed."""
        self._closing = True
        for job in list(self._jobs.values()):
            await self._stop(job, JobState.INTERRUPTED)

    def _check_room(self) -> None:
        if self._closing:
            raise BusyError("The server is being stopped.", hint="Start it again.")
        if len(self._line) >= LONGEST_LINE:
            raise BusyError(
                f"{LONGEST_LINE} evaluations are waiting already.", hint="Wait until some of them are done."
            )

    def _line_up(self, job: Job) -> Job:
        self._jobs[job.id] = job
        self._failed.pop(job.id, None)
        self._line.append(job)
        self._advance()
        return job

    def _advance(self) -> None:
        while self._line and len(self._tasks) < self._at_once and not self._closing:
            job = self._line.popleft()
            job.begin()
            self._tasks[job.id] = asyncio.create_task(self._supervise(job))
        for position, job in enumerate(self._line, start=1):
            job.move(position)

    async def _supervise(self, job: Job) -> None:
        try:
            await job.run(self._store)
        except SalvoError as fault:
            await self._give_up(job, fault)
        except Exception as fault:  # noqa: BLE001 - a fault of one evaluation is not the others'
            _log.exception("An evaluation failed through a fault of the server's own.")
            await self._give_up(job, SalvoError(f"The server failed at it ({type(fault).__name__})."))
        finally:
            del self._tasks[job.id]
            self._end(job)

    async def _give_up(self, job: Job, fault: SalvoError) -> None:
        problem = problem_of(fault)
        try:
            await asyncio.to_thread(self._store.fail, job.id, StoredError(problem.code, problem.message, problem.hint))
        except SalvoError as second:
            _log.warning("That it failed could not be stored: %s", second)
        job.fail(fault)

    async def _stop(self, job: Job, ends_as: JobState) -> None:
        job.stop(ends_as)
        if job in self._line:
            self._line.remove(job)
            await asyncio.to_thread(job.put_down, self._store)
            job.end(ends_as)
            self._end(job)
        await job.over.wait()

    def _end(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        if job.problem is not None:
            self._failed[job.id] = job.problem
            _forget_oldest(self._failed)
        self._advance()


def _forget_oldest(remembered: OrderedDict[str, T]) -> None:
    while len(remembered) > _REMEMBERED:
        remembered.popitem(last=False)
