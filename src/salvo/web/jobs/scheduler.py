"""Runs evaluations: those of this server, and those that any server can run. The others wait for their turn.

What any server can run waits in the database, and a server with a free place takes it from there. What needs a key that
was typed on the page, or texts that are not stored, waits in the memory of the server that has them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from salvo.engine.runtime.pool import is_set_within
from salvo.engine.text.formatting import pluralize
from salvo.errors import LeaseLostError, SalvoError, TokenUsedError, UnknownIdError
from salvo.playbooks.evaluate.recorder import RENEWAL_SECONDS, StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest, stored_request
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.store.queueing import notifications
from salvo.playbooks.store.queueing.leases import Submission
from salvo.playbooks.store.records import ErrorDetail, StoredEvaluation
from salvo.playbooks.store.store import EvaluationStore
from salvo.records import record
from salvo.web.jobs.changes import Changes
from salvo.web.jobs.job import Job, JobState
from salvo.web.jobs.requirements import requirement
from salvo.web.metrics import Metrics
from salvo.web.responses import BusyError, error_detail

_log = logging.getLogger(__name__)
T = TypeVar("T")

POLL_SECONDS = 2.0
"""Between two looks for evaluations that wait, where the database does not tell, or a notification was lost."""
_REMEMBERED = 1000
"""Failed evaluations."""


@record
class SchedulerLimits:
    running: int = 4
    """Evaluations that run at the same time on this server."""
    waiting: int = 200
    """Evaluations that wait, on all servers together."""


@record
class _WaitingJob:
    """A job that only this server can run. The config holds the API key, which exists only until the job ends."""

    turn: int
    job: Job
    config: EvaluatorConfig

    @property
    def place(self) -> tuple[int, str]:
        return self.turn, self.job.id


class Jobs:
    """Every evaluation that this server runs or that only this server can run."""

    def __init__(
        self,
        store: EvaluationStore,
        limits: SchedulerLimits,
        fulfilled: frozenset[str],
        stored_config: Callable[[StoredEvaluation], EvaluatorConfig],
        changes: Changes,
        metrics: Metrics,
    ) -> None:
        """`fulfilled` are the requirements of the waiting evaluations that this server can run, with the configuration
        that `stored_config` returns.
        """
        self._store = store
        self._limits = limits
        self._fulfilled = fulfilled
        self._stored_config = stored_config
        self._changes = changes
        self._metrics = metrics
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[str, _WaitingJob] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reserved = 0
        """Places of evaluations that are being stored and then run."""
        self._nothing_waits = True
        """Whether nothing waited for this server when it last looked, and nothing has come since."""
        self._problems: OrderedDict[str, ErrorDetail] = OrderedDict()
        self._wake = asyncio.Event()
        self._closed = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        # A thread of its own: a lease must not end because all others are busy.
        self._lease_thread = ThreadPoolExecutor(1, "leases")
        self._listener: notifications.ChangeListener | None = None

    async def open(self) -> None:
        """Begin to look for evaluations that wait, and for those that other servers have abandoned."""
        if not self._store.is_new:
            await self._release_abandoned()
        self._listener = self._store.listen(partial(_forward, asyncio.get_running_loop(), self._on_change))
        self._loops = [asyncio.create_task(self._dispatch()), asyncio.create_task(self._keep_leases())]

    async def close(self) -> None:
        """Stop all jobs. Other servers continue those that they can; the others can be resumed."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._wake.set()
        await asyncio.gather(*self._loops)
        for job in list(self._jobs.values()):
            await self._stop(job, JobState.INTERRUPTED)
        if self._listener is not None:
            await asyncio.to_thread(self._listener.close)
        self._lease_thread.shutdown()

    def find(self, evaluation_id: str) -> Job | None:
        return self._jobs.get(evaluation_id)

    @property
    def running(self) -> int:
        return len(self._tasks)

    def problem(self, evaluation_id: str) -> ErrorDetail | None:
        """Return why an evaluation failed since the server started, even if that could not be stored."""
        return self._problems.get(evaluation_id)

    def can_run(self, required: str) -> bool:
        return required in self._fulfilled

    async def start(
        self,
        request: EvaluationRequest,
        config: EvaluatorConfig,
        *,
        client: str,
        user: str | None = None,
        token: str | None = None,
        in_full: bool = True,
        earlier_votes: Sequence[Vote] = (),
        group: str | None = None,
    ) -> str:
        """Store a new evaluation, with the votes that it takes over from another one, and run or queue it.

        Return its id, or that of the evaluation that was started with the same token before.
        """
        # The address is stored, so that a resumed evaluation does not send its texts somewhere else.
        recorder = StoreRecorder(self._store, in_full=in_full, group=group, settings=config.settings)
        created_at = config.clock.now().isoformat(timespec="milliseconds")
        required = requirement(config, in_full=in_full)

        def store(waits: bool) -> Job:
            recorder.submission = Submission(client, required, token, waits, user)
            numbers = recorder.start(request, earlier_votes)
            votes = list(zip(numbers, earlier_votes, strict=True))
            return Job(request, created_at, config, votes, is_shared=recorder.submission.is_shared, group=group)

        try:
            await self._admit(store, config)
        except TokenUsedError as used:
            return used.evaluation_id
        return request.report_id

    async def resume(
        self,
        request: EvaluationRequest,
        config: EvaluatorConfig,
        *,
        client: str,
        user: str | None = None,
        created_at: str,
        earlier_votes: Sequence[tuple[int, Vote]],
        group: str | None = None,
    ) -> None:
        """Run or queue an evaluation that is stored without a report."""
        required = requirement(config, in_full=True)

        def store(waits: bool) -> Job:
            submission = Submission(client, required, waits=waits, user=user)
            self._store.resume(request.report_id, submission)
            return Job(request, created_at, config, earlier_votes, is_shared=submission.is_shared, group=group)

        await self._admit(store, config)

    async def _admit(self, store: Callable[[bool], Job], config: EvaluatorConfig) -> None:
        """Store an evaluation that runs at once if there is a place, and otherwise waits."""
        if self._closed.is_set():
            raise BusyError("The server is shutting down.", hint="Start it again.")
        if self._has_place and self._nothing_waits and not self._waiting:
            self._reserved += 1
            try:
                job = await asyncio.to_thread(store, False)
            finally:
                self._reserved -= 1
            self._launch(job, config)
            return
        if (
            not self._store.is_new
            and (await asyncio.to_thread(self._store.queue.counts)).waiting >= self._limits.waiting
        ):
            full = pluralize(self._limits.waiting, "evaluation")
            verb = "waits" if self._limits.waiting == 1 else "wait"
            raise BusyError(f"The queue is full: {full} {verb}.", hint="Wait until some of them have finished.")
        job = await asyncio.to_thread(store, True)
        if not job.is_shared:
            self._jobs[job.id] = job
            turn = await asyncio.to_thread(self._store.queue.turn, job.id)
            self._waiting[job.id] = _WaitingJob(turn, job, config)
            await self._move_up()
        self._problems.pop(job.id, None)
        self._nothing_waits = False
        self._wake.set()

    async def cancel(self, job: Job, *, user: str | None = None) -> None:
        """Stop a job and wait for its end. The audit log has the `user` who is logged in."""
        await self._stop(job, JobState.CANCELLED, user)
        self._wake.set()

    @property
    def _has_place(self) -> bool:
        return len(self._tasks) + self._reserved < self._limits.running

    def _launch(self, job: Job, config: EvaluatorConfig) -> None:
        self._jobs[job.id] = job
        self._problems.pop(job.id, None)
        job.begin()
        _log.info("An evaluation begins.", extra=_fields(job))
        self._tasks[job.id] = asyncio.create_task(self._run(job, config))
        self._changes.notify(job.id)

    async def _run(self, job: Job, config: EvaluatorConfig) -> None:
        try:
            await job.run(self._store, config, partial(self._metrics.count, "salvo_votes_stored_total"))
        except (LeaseLostError, UnknownIdError):  # UnknownIdError: another server deleted it
            job.lose()
            job.end(JobState.INTERRUPTED)
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

    async def _stop(self, job: Job, end_state: JobState, user: str | None = None) -> None:
        job.stop(end_state, user)
        if self._waiting.pop(job.id, None) is not None:
            await asyncio.to_thread(job.save_end_state, self._store)
            job.end(end_state)
            self._remove(job)
        await job.finished.wait()

    def _remove(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        if job.state.is_final:
            self._metrics.count("salvo_evaluations_ended_total", f'state="{job.state}"')
            _log.info("An evaluation has ended.", extra=_fields(job, state=job.state, votes=len(job.votes)))
        else:
            _log.info("An evaluation was left to other servers.", extra=_fields(job, votes=len(job.votes)))
        if job.problem is not None:
            self._remember_problem(job.id, job.problem)
        self._wake.set()

    def _remember_problem(self, evaluation_id: str, problem: ErrorDetail) -> None:
        self._problems[evaluation_id] = problem
        while len(self._problems) > _REMEMBERED:
            self._problems.popitem(last=False)

    # Taking what waits.

    async def _dispatch(self) -> None:
        while not self._closed.is_set():
            self._wake.clear()
            try:
                await self._fill_places()
                await self._move_up()
            except SalvoError as error:
                _log.warning("Waiting evaluations could not be started: %s", error)
            await is_set_within(POLL_SECONDS, self._wake)

    async def _fill_places(self) -> None:
        while self._has_place and not self._closed.is_set() and not self._store.is_new:
            own = min(self._waiting.values(), key=lambda waiting: waiting.place, default=None)
            before = own.place if own else None
            claimed = await asyncio.to_thread(self._store.queue.claim, self._fulfilled, before)
            if claimed is not None:
                await self._take(claimed)
            elif own is not None:
                await self._begin(own)
            else:
                self._nothing_waits = True
                return

    async def _begin(self, waiting: _WaitingJob) -> None:
        """Run a job that only this server can run."""
        job = waiting.job
        is_own = await asyncio.to_thread(self._store.queue.begin, job.id)
        if self._waiting.pop(job.id, None) is None:
            return  # cancelled meanwhile
        if is_own:
            self._launch(job, waiting.config)
        else:  # cancelled on another server
            job.lose()
            job.end(JobState.INTERRUPTED)
            self._remove(job)

    async def _take(self, evaluation_id: str) -> None:
        """Run an evaluation that this server has claimed."""
        try:
            job, config = await asyncio.to_thread(self._load, evaluation_id)
        except SalvoError as error:
            self._remember_problem(evaluation_id, error_detail(error))
            await asyncio.to_thread(self._store.fail, evaluation_id, error_detail(error))
            return
        self._launch(job, config)

    def _load(self, evaluation_id: str) -> tuple[Job, EvaluatorConfig]:
        stored = self._store.load(evaluation_id)
        config = self._stored_config(stored)
        votes = [pair for pair in self._store.votes(evaluation_id) if pair[1].answer.result is not None]
        job = Job(stored_request(stored), stored.created_at, config, votes, is_shared=True, group=stored.group)
        return job, config

    async def _move_up(self) -> None:
        """Tell those who watch a job of this server's own queue its place in the queue of all servers."""
        if not self._waiting:
            return
        positions = await asyncio.to_thread(self._store.queue.positions)
        for waiting in self._waiting.values():
            if waiting.job.id in positions:
                waiting.job.move(positions[waiting.job.id])

    # Leases.

    async def _keep_leases(self) -> None:
        while not await is_set_within(RENEWAL_SECONDS, self._closed):
            if self._store.is_new:
                continue
            try:
                await self._renew_leases()
                await self._release_abandoned()
            except SalvoError as error:
                _log.warning("Leases could not be renewed: %s", error)

    async def _renew_leases(self) -> None:
        job_ids = list(self._jobs)
        if not job_ids:
            return
        own = await self._in_lease_thread(self._store.queue.renew, job_ids)
        for evaluation_id in job_ids:
            job = self._jobs.get(evaluation_id)
            if job is None or evaluation_id in own:
                continue
            job.lose()  # another server has it, or it was cancelled there
            self._metrics.count("salvo_evaluations_lost_total")
            if self._waiting.pop(evaluation_id, None) is not None:
                job.end(JobState.INTERRUPTED)
                self._remove(job)

    async def _release_abandoned(self) -> None:
        abandoned = await self._in_lease_thread(self._store.queue.release_abandoned)
        for evaluation_id in abandoned.requeued:
            _log.info("The server of an evaluation is gone; it is queued again.", extra=_fields(evaluation_id))
        self._metrics.count("salvo_evaluations_taken_over_total", number=len(abandoned.requeued))
        for evaluation_id in (*abandoned.requeued, *abandoned.interrupted):
            self._changes.notify(evaluation_id)
        if abandoned.requeued:
            self._nothing_waits = False
            self._wake.set()

    async def _in_lease_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._lease_thread, partial(function, *arguments))

    def _on_change(self, channel: str, message: str) -> None:
        if channel == notifications.QUEUE_CHANNEL:
            self._wake.set()
        else:
            self._changes.notify(message)


def _forward(
    loop: asyncio.AbstractEventLoop, on_change: Callable[[str, str], None], channel: str, message: str
) -> None:
    """Call a function of the event loop from the thread that listens."""
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(on_change, channel, message)


def _fields(job: Job | str, **values: object) -> dict[str, Any]:
    """Return fields of a log entry."""
    return {"fields": {"evaluation": job if isinstance(job, str) else job.id, **values}}
