"""An evaluation from beginning to end: scan the text, ask the judge, conclude, keep. The only orchestrator here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.http import Wire
from salvo.engine.wire.record import RecordingOptions, RecordingWire
from salvo.engine.wire.retry import RetryingWire, Wait
from salvo.playbooks.evaluate import injection, patterns
from salvo.playbooks.evaluate.judges.base import Case, Judge
from salvo.playbooks.evaluate.recorder import EvaluationRecorder, Record
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import JudgeAnswer, Vote
from salvo.playbooks.playbook.schema import Check
from salvo.playbooks.report.builder import JudgedBy, ScanResult, build_report, character_findings
from salvo.playbooks.report.checks import location
from salvo.playbooks.report.report import ArtifactFinding, Report

_REPORTED = 50
"""Passages that address the evaluator which a report lists: a hostile text may hold a million."""

_HEAD_START = 0.03
"""Seconds in which all requests are sent."""

_TAPED = RecordingOptions(max_request_bytes=8 * 1024)
"""A request holds the artifact, which is stored once already, and not with every vote: its hash is enough to replay."""


@dataclass(frozen=True, slots=True)
class VoteEvent:
    """A vote came in. `sequence` is its number in the store; None where nothing is stored."""

    vote: Vote
    sequence: int | None
    progress: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class StartEvent:
    progress: str
    done: int
    total: int


Event: TypeAlias = StartEvent | VoteEvent | Wait


@dataclass(slots=True)
class EvaluationContext:
    """What an evaluation works with; shared by as many as go on at once."""

    judge: Judge
    wire: Wire
    redactor: Redactor
    clock: Clock
    pool: Pool
    record: Callable[[], Record] | None = None
    """Opens the store; None where nothing is to be kept."""
    on_event: Callable[[Event], None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What came of it; `unkept` says why it could not be stored, where it could not."""

    report: Report | PoolStopped
    unkept: str = ""


async def evaluate(
    order: EvaluationRequest, session: EvaluationContext, earlier: Sequence[Vote] = (), *, resumed: bool = False
) -> EvaluationOutcome:
    """`earlier` are votes that were cast before: what was answered then is not asked again.

    `resumed`: the order is in the store already, with those votes, and goes on.
    """
    scanned = await asyncio.to_thread(scan, order)  # a playbook's patterns may take their time
    keeping = EvaluationRecorder(session.record, order)
    asking = _Asking(order, scanned, session, keeping, earlier)

    async def begin() -> None:
        # The store is slow to load: meanwhile the first requests are on their way, and they go first.
        await asyncio.sleep(_HEAD_START if session.judge.provider else 0)
        await keeping.begin(earlier, resumed=False)

    if resumed:
        await keeping.begin(earlier, resumed=True)  # before anything is sent: another process may be at it
        stopped = await asking.all()
    else:
        _, stopped = await gather((begin(), asking.all()))
    if stopped is not None:
        await keeping.interrupt()
        return EvaluationOutcome(stopped, str(keeping.fault or ""))
    # In a thread: it goes over the texts again, and hashes the whole report.
    report = await asyncio.to_thread(
        build_report,
        order,
        list(asking.cast.values()),
        scanned,
        judged_by(session.judge),
        timestamp=session.clock.now().isoformat(),
        baseline=await keeping.baseline(),
    )
    await keeping.finish(report)
    return EvaluationOutcome(report, str(keeping.fault or ""))


def scan(order: EvaluationRequest) -> ScanResult:
    """What can be seen without asking anyone: pattern hints, text that addresses the evaluator, odd characters."""
    text = order.inputs.ai_output
    addressed = injection.findings(order.inputs)
    findings = [
        ArtifactFinding(
            found.kind, found.message, text[found.span.start : found.span.end], location(found.span, order.inputs)
        )
        for found in addressed[:_REPORTED]
    ]
    if len(addressed) > _REPORTED:
        more = f"{len(addressed) - _REPORTED} more passages like these are not listed."
        findings.append(ArtifactFinding("more_findings", more, count=len(addressed) - _REPORTED))
    return ScanResult(
        patterns={check.id: patterns.scan(check, text) for check in order.playbook.checks if check.patterns},
        findings=(*findings, *character_findings(text)),
        addressed=tuple(injection.sentence_around(text, found.span) for found in addressed),
    )


def judged_by(judge: Judge) -> JudgedBy:
    model = judge.name.removeprefix(f"{judge.provider}/")
    return JudgedBy(judge.provider, model, judge.prompt_id, judge.deterministic)


def case_of(order: EvaluationRequest, scanned: ScanResult, check: Check, run: int) -> Case:
    scan = scanned.patterns.get(check.id)
    return Case(check, order.inputs, run, scan.hits if scan else (), scanned.addressed)


def cleaned(ballot: JudgeAnswer, redactor: Redactor) -> JudgeAnswer:
    """Before anything is decided by it: what is judged is what is stored. Quotes stay: they are the text's own."""
    return replace(
        ballot, notes=redactor.text(ballot.notes), raw=redactor.text(ballot.raw), problem=redactor.text(ballot.problem)
    )


class _Asking:
    """The questions of one evaluation, and the votes that were cast on them."""

    def __init__(
        self,
        order: EvaluationRequest,
        scanned: ScanResult,
        session: EvaluationContext,
        keeping: EvaluationRecorder,
        earlier: Sequence[Vote],
    ) -> None:
        self._order = order
        self._scanned = scanned
        self._session = session
        self._keeping = keeping
        self._hopeless = False
        self.cast = {(vote.check_id, vote.run): vote for vote in earlier if vote.ballot.result is not None}

    async def all(self) -> PoolStopped | None:
        """Asks whatever has no vote yet, all at once; why it was stopped, if it was."""
        cases = [
            case_of(self._order, self._scanned, check, run)
            for check, run in self._order.cases
            if (check.id, run) not in self.cast
        ]
        self._session.on_event(StartEvent(self._progress(), len(self.cast), len(self._order.cases)))
        # One goes first where the others can then read its cache.
        alone = 1 if len(cases) > 1 and self._session.judge.goes_first(self._order.inputs) else 0
        for group in (cases[:alone], cases[alone:]):
            for stopped in await gather(map(self._one, group)):
                if stopped is not None:
                    return stopped
        return None

    async def _one(self, case: Case) -> PoolStopped | None:
        vote = await self._session.pool.run(lambda: self._vote(case))
        if vote is None or isinstance(vote, PoolStopped):
            return vote
        sequence = await self._keeping.vote(vote)
        self.cast[vote.check_id, vote.run] = vote
        done, total = len(self.cast), len(self._order.cases)
        self._session.on_event(VoteEvent(vote, sequence, self._progress(), done, total))
        return None

    async def _vote(self, case: Case) -> Vote | None:
        if self._hopeless:
            return None  # a wrong key is not right at the next call
        session = self._session
        retrying = RetryingWire(session.wire, clock=session.clock, listener=session.on_event)
        recording = RecordingWire(retrying, session.redactor, _TAPED)
        ballot = cleaned(await session.judge.judge(case, recording), session.redactor)
        self._hopeless |= ballot.hopeless
        return Vote(case.check.id, case.run, ballot, tuple(recording.tape.exchanges))

    def _progress(self) -> str:
        """Where it is: the first question that has no answer yet."""
        numbers = {check.id: number for number, check in enumerate(self._order.playbook.checks, start=1)}
        checks, runs = len(numbers), self._order.runs
        for check, run in self._order.cases:
            if (check.id, run) not in self.cast:
                return f"Running check {numbers[check.id]}/{checks}, run {run}/{runs}"
        times = "once" if runs == 1 else f"{runs} times"
        return f"Judged {len(self._order.playbook.judged)} checks, {times} each"
