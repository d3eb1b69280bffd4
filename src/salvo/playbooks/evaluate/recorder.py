"""Record an evaluation in the store while it runs: in threads, in order, losing no answer that was paid for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from salvo.engine.runtime.pool import is_set_within
from salvo.errors import DamagedEvaluationError, StoreError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, EvaluationRequest
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.builder import BaselineReport
from salvo.playbooks.report.report import Report

if TYPE_CHECKING:
    from salvo.playbooks.store.queueing.leases import Submission
    from salvo.playbooks.store.store import EvaluationStore

T = TypeVar("T")

RENEWAL_SECONDS = 5.0
"""Between two renewals of a lease, which lasts three times as long: one may be late or fail without a consequence."""


@asynccontextmanager
async def renewing(renew: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Renew leases in this block, so that no other process takes the evaluations."""
    finished = asyncio.Event()

    async def renew_until_finished() -> None:
        while not await is_set_within(RENEWAL_SECONDS, finished):
            with suppress(StoreError):  # the next renewal may succeed, and a vote says it if none does
                await renew()

    renewal = asyncio.create_task(renew_until_finished())
    try:
        yield
    finally:
        finished.set()
        await renewal


@dataclass
class StoreRecorder:
    """What an evaluation reads from and writes to the store. The methods block."""

    store: EvaluationStore
    in_full: bool = True
    group: str | None = None
    """The first id of the evaluations that were requested together."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    submission: Submission | None = None
    """How a client asked a server for the evaluation."""

    def start(self, request: EvaluationRequest, earlier_votes: Sequence[Vote] = ()) -> Sequence[int]:
        """Store the request, with the votes it takes over from another evaluation. Return the votes' numbers."""
        return self.store.begin(
            request,
            settings=self.settings,
            in_full=self.in_full,
            group=self.group,
            submission=self.submission,
            earlier_votes=earlier_votes,
        )

    def renew(self, evaluation_id: str) -> None:
        """Renew the lease. If another process has the evaluation now, the next vote says so."""
        self.store.queue.renew([evaluation_id])

    def save_votes(self, evaluation_id: str, votes: Sequence[Vote]) -> Sequence[int]:
        """Commit the votes and return their sequence numbers."""
        return self.store.save_votes(evaluation_id, votes)

    def baseline_for(self, request: EvaluationRequest) -> BaselineReport | str | None:
        """Return the report to compare with, or why it cannot be read. None if there is none."""
        # Evaluations of one group are no baseline for each other: which of them finishes first is chance.
        before = self.group or request.report_id
        title = None
        if self.group is not None and self.store.batches.exists(self.group):
            # A subject has many documents then: only an earlier report of the same one says something about change.
            title = None if request.document_identity is None else request.document_identity.title
            if not title:
                return "The document has no title, so an earlier report of it cannot be told from those of others."
        try:
            baseline = self.store.baseline_for(request.playbook.logic_hash, request.subject, before=before, title=title)
        except DamagedEvaluationError as error:
            return f"The report to compare with cannot be read, so it was compared with nothing. {error.message}"
        if (baseline is None or baseline.report is None) and title:
            return (
                f"There is no earlier report of this document under the subject “{request.subject}” to compare with: a "
                "full and complete one under this playbook."
            )
        if baseline is None or baseline.report is None:
            return None
        return BaselineReport(baseline.report, saved=baseline.baseline_since is not None)

    def finish(self, report: Report) -> None:
        self.store.finish(report.report_id, report)

    def interrupt(self, evaluation_id: str) -> None:
        self.store.interrupt(evaluation_id)


class EvaluationRecorder:
    """Records one evaluation. If the store fails, `error` keeps the reason and the evaluation continues:
    a report that was paid for is still shown even if it cannot be stored.
    """

    def __init__(
        self,
        open_recorder: Callable[[], StoreRecorder] | None,
        request: EvaluationRequest,
        *,
        already_stored: bool = False,
    ) -> None:
        """`already_stored`: the store has the request and its earlier votes, so `start` has nothing to do."""
        self._open = cache(open_recorder) if open_recorder else None
        self._request = request
        self._started = asyncio.Event()
        if already_stored:
            self._started.set()
        self._lock = asyncio.Lock()
        self._pending: list[Vote] = []
        self._sequence_numbers: dict[tuple[str, int], int] = {}
        self.error: StoreError | None = None

    @property
    def active(self) -> bool:
        return self._open is not None and self.error is None

    async def start(self, earlier_votes: Sequence[Vote]) -> None:
        """Open the store and store the request. Votes that arrive earlier wait for this."""
        if not self._started.is_set():
            await self._locked(lambda recorder: recorder.start(self._request, earlier_votes))
            self._started.set()

    @asynccontextmanager
    async def renewing_lease(self) -> AsyncIterator[None]:
        """Renew the lease in this block, so that other processes leave the evaluation to this one."""
        if self._open is None:
            yield
            return
        async with renewing(self._renew_started):
            yield

    async def _renew_started(self) -> None:
        if self._started.is_set() and self.active:
            async with self._lock:
                await asyncio.to_thread(self._renew)

    def _renew(self) -> None:
        if self._open is not None:
            self._open().renew(self._request.report_id)

    async def save_vote(self, vote: Vote) -> int | None:
        """Return the vote's sequence number once it is committed. Votes that arrive during a write are batched."""
        await self._started.wait()
        self._pending.append(vote)
        async with self._lock:
            if self._pending:
                votes, self._pending = self._pending, []
                numbers = await self._in_thread(lambda recorder: recorder.save_votes(self._request.report_id, votes))
                self._sequence_numbers.update(zip((vote.key for vote in votes), numbers or (), strict=False))
        return self._sequence_numbers.get(vote.key)

    async def baseline(self) -> BaselineReport | str:
        """Return the report to compare with, or the reason why there is none."""
        if self._request.mode is Mode.SCREENING:
            return "A screening is not comparable over time, so it was compared with nothing."
        if not self.active:
            return "Nothing is stored, so there is no baseline to compare with."
        if self._request.subject == DEFAULT_SUBJECT:
            return "No subject was named, so earlier reports may be of other texts and nothing was compared."
        baseline = await self._locked(lambda recorder: recorder.baseline_for(self._request))
        return baseline or (
            f"There is no earlier report of the subject “{self._request.subject}” to compare with: a full and complete "
            "one under this playbook."
        )

    async def finish(self, report: Report) -> None:
        await self._locked(lambda recorder: recorder.finish(report))

    async def interrupt(self) -> None:
        await self._locked(lambda recorder: recorder.interrupt(self._request.report_id))

    async def _locked(self, action: Callable[[StoreRecorder], T]) -> T | None:
        async with self._lock:
            return await self._in_thread(action)

    async def _in_thread(self, action: Callable[[StoreRecorder], T]) -> T | None:
        open_recorder = self._open
        if open_recorder is None or self.error is not None:
            return None
        try:
            return await asyncio.to_thread(lambda: action(open_recorder()))
        except StoreError as error:
            self.error = error
            return None
