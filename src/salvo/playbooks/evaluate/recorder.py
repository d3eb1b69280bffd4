"""Puts an evaluation on record while it goes on: in threads, in order, and never at the cost of what was paid for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from salvo.errors import StoreError
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import Vote
from salvo.playbooks.report.builder import BaselineReport
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.records import NewEvaluation

if TYPE_CHECKING:
    from salvo.playbooks.store.store import EvaluationStore

T = TypeVar("T")


class Record(Protocol):
    """The part of a store that an evaluation writes to. Its methods block; they are called in threads."""

    def begin(self, order: EvaluationRequest) -> None: ...

    def resume(self, evaluation_id: str) -> None: ...

    def save_votes(self, evaluation_id: str, cast: Sequence[Vote]) -> Sequence[int]:
        """The votes' sequence numbers, once they are committed."""
        ...

    def baseline_for(self, order: EvaluationRequest) -> BaselineReport | None: ...

    def finish(self, report: Report) -> None: ...

    def interrupt(self, evaluation_id: str) -> None: ...


class EvaluationRecorder:
    """One evaluation's way into the store. A store that fails is remembered in `fault`, and the evaluation goes on:
    what a provider was paid for is still told, even where it cannot be kept.
    """

    def __init__(self, open_record: Callable[[], Record] | None, order: EvaluationRequest) -> None:
        self._open = open_record
        self._order = order
        self._record: Record | None = None
        self._begun = asyncio.Event()
        self._turn = asyncio.Lock()
        self._arrived: list[Vote] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self.fault: StoreError | None = None

    @property
    def keeps(self) -> bool:
        return self._open is not None and self.fault is None

    async def begin(self, earlier: Sequence[Vote], *, resumed: bool) -> None:
        """Opens the store, and puts what is asked for into it. Votes that come in sooner wait for this."""

        def begin(record: Record) -> None:
            if resumed:
                record.resume(self._order.report_id)
                return
            record.begin(self._order)
            if earlier:
                record.save_votes(self._order.report_id, earlier)

        await self._do(begin)
        self._begun.set()

    async def vote(self, vote: Vote) -> int | None:
        """Its sequence number, once it is committed. Those that come in while others are written go in together."""
        await self._begun.wait()
        self._arrived.append(vote)
        async with self._turn:
            if self._arrived:
                cast, self._arrived = self._arrived, []
                numbers = await self._in_thread(lambda record: record.save_votes(self._order.report_id, cast))
                self._numbers.update(zip(map(_asked, cast), numbers or (), strict=False))
        return self._numbers.get(_asked(vote))

    async def baseline(self) -> BaselineReport | str:
        """What to compare with, or why there is nothing."""
        if self._order.mode is Mode.SCREENING:
            return "A screening is not comparable over time, so it was compared with nothing."
        if not self.keeps:
            return "Nothing is stored, so there is no baseline to compare with."
        found = await self._do(lambda record: record.baseline_for(self._order))
        return found or f"There is no earlier report of the subject “{self._order.subject}” under this playbook."

    async def finish(self, report: Report) -> None:
        await self._do(lambda record: record.finish(report))

    async def interrupt(self) -> None:
        await self._do(lambda record: record.interrupt(self._order.report_id))

    async def _do(self, act: Callable[[Record], T]) -> T | None:
        async with self._turn:
            return await self._in_thread(act)

    async def _in_thread(self, act: Callable[[Record], T]) -> T | None:
        if not self.keeps:
            return None
        try:
            return await asyncio.to_thread(self._act, act)
        except StoreError as fault:
            self.fault = fault
            return None

    def _act(self, act: Callable[[Record], T]) -> T:
        if self._record is None:
            assert self._open is not None  # noqa: S101 - `keeps` was asked first
            self._record = self._open()
        return act(self._record)


def _asked(vote: Vote) -> tuple[str, int]:
    return vote.check_id, vote.run


class StoreRecorder:
    """A store as an evaluation writes to it; `group` is the first id of those that are evaluated together."""

    def __init__(
        self,
        store: EvaluationStore,
        *,
        in_full: bool = True,
        group: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._store = store
        self._in_full = in_full
        self._group = group
        self._settings = settings or {}

    def begin(self, order: EvaluationRequest) -> None:
        self._store.begin(
            NewEvaluation(
                id=order.report_id,
                playbook=order.playbook,
                inputs=order.inputs,
                evaluator=order.evaluator,
                mode=order.mode,
                runs=order.runs,
                subject=order.subject,
                producer=order.producer,
                settings=self._settings,
                stored_in_full=self._in_full,
                group=self._group,
            )
        )

    def resume(self, evaluation_id: str) -> None:
        self._store.resume(evaluation_id)

    def save_votes(self, evaluation_id: str, cast: Sequence[Vote]) -> Sequence[int]:
        return self._store.save_votes(evaluation_id, cast)

    def baseline_for(self, order: EvaluationRequest) -> BaselineReport | None:
        # Those that were asked together are nobody's past: which of them is done first is chance.
        before = self._group or order.report_id
        found = self._store.baseline_for(order.playbook.logic_hash, order.subject, before=before)
        if found is None or found.report is None:
            return None
        return BaselineReport(found.report, saved=found.baseline_since is not None)

    def finish(self, report: Report) -> None:
        self._store.finish(report.report_id, report)

    def interrupt(self, evaluation_id: str) -> None:
        self._store.interrupt(evaluation_id)
