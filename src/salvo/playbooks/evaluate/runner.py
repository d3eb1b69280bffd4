"""Run an evaluation from start to end: scan the text, ask the judge, build the report, store it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import Pool, PoolStopped, gather
from salvo.engine.runtime.redact import Redactor
from salvo.engine.sandbox.workers import in_killable_thread, time_budget
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.base import RecordingOptions, Wire
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.retry import RetryingWire, RetryPolicy, Wait
from salvo.playbooks.evaluate import patterns
from salvo.playbooks.evaluate.folded_text import FoldedText
from salvo.playbooks.evaluate.injection.characters import invisible_characters
from salvo.playbooks.evaluate.injection.detector import find_injections, with_blanks
from salvo.playbooks.evaluate.judges.base import Case, Judge
from salvo.playbooks.evaluate.look_alike_letters import look_alike_letters
from salvo.playbooks.evaluate.recorder import EvaluationRecorder, StoreRecorder
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.votes import JudgeAnswer, Vote
from salvo.playbooks.playbook.definition import Check
from salvo.playbooks.report.builder import JudgedBy, ScanResult, build_report
from salvo.playbooks.report.evidence.citations import location
from salvo.playbooks.report.report import ArtifactFinding, Report
from salvo.records import record

_MAX_FINDINGS = 50
"""Passages addressed to the evaluator that a report lists; a hostile text may contain a million."""

MAX_PATTERN_SECONDS = 20.0
"""For the slow patterns of all checks of an evaluation together."""

_RECORDING = RecordingOptions(max_request_bytes=8 * 1024)
"""Every request contains the texts, which are stored once. With a vote only the request's hash is stored."""


@record
class EvaluationProgress:
    """The votes so far: sent at the start, and when a vote arrives."""

    progress: str
    answered: int
    total: int
    vote: Vote | None = None
    sequence: int | None = None
    """The number of the vote in the store; None if nothing is stored."""


@record
class OpenCalls:
    """The calls of a judge that have not been answered yet: sent when one begins or ends."""

    count: int
    oldest_start: float
    """When the oldest of them began, by the monotonic clock."""


Event: TypeAlias = EvaluationProgress | Wait | OpenCalls


@dataclass(slots=True)
class EvaluationContext:
    """What an evaluation works with. Several evaluations may share a pool."""

    judge: Judge
    wire: Wire | None
    """None for a judge that calls no provider."""
    redactor: Redactor
    clock: Clock
    pool: Pool
    open_recorder: Callable[[], StoreRecorder] | None = None
    """Opens the store; None if nothing is stored."""
    on_event: Callable[[Event], None] = field(default=lambda _: None)
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)


@record
class EvaluationOutcome:
    """`store_error` says why the evaluation could not be stored; it is empty if it was, or was not meant to be."""

    report: Report | PoolStopped
    store_error: str = ""


async def evaluate(
    request: EvaluationRequest,
    context: EvaluationContext,
    earlier_votes: Sequence[Vote] = (),
    *,
    already_stored: bool = False,
) -> EvaluationOutcome:
    """Evaluate the text of the request. Questions that `earlier_votes` answer are not asked again.

    With `already_stored` the caller has put the request and those votes into the store; otherwise this does it.
    """
    recorder = EvaluationRecorder(context.open_recorder, request, already_stored=already_stored)
    async with recorder.renewing_lease():
        report = await _evaluate(request, context, recorder, earlier_votes)
    return EvaluationOutcome(report, str(recorder.error or ""))


async def _evaluate(
    request: EvaluationRequest,
    context: EvaluationContext,
    recorder: EvaluationRecorder,
    earlier_votes: Sequence[Vote],
) -> Report | PoolStopped:
    started = context.clock.monotonic()
    # Matching a playbook's patterns may take long. In the pool it ends when the evaluation is stopped.
    scan_result = await context.pool.run(lambda: in_killable_thread(scan, request))
    if isinstance(scan_result, PoolStopped):
        await recorder.start(earlier_votes)  # so that it can be resumed
        await recorder.interrupt()
        return scan_result
    votes = {vote.key: vote for vote in earlier_votes if vote.answer.result is not None}
    votes_before = len(votes)
    questions = _Questions(request, scan_result, context, recorder, votes)
    # Opening the store takes a while. The first questions are sent meanwhile, and their votes wait for it.
    stopped, _ = await gather([questions.ask_all(), recorder.start(earlier_votes)])
    if stopped is not None:
        await recorder.interrupt()
        return stopped
    # What a resumed evaluation took before is not known.
    wall_seconds = None if votes_before else context.clock.monotonic() - started
    report = await asyncio.to_thread(  # it searches the texts and hashes the whole report
        build_report,
        request,
        list(votes.values()),
        scan_result,
        judged_by(context.judge),
        timestamp=context.clock.now().isoformat(),
        baseline=await recorder.baseline(),
        wall_seconds=wall_seconds,
    )
    await recorder.finish(report)
    return report


def scan(request: EvaluationRequest) -> ScanResult:
    """Find what needs no judge: pattern hits, passages addressed to the evaluator, invisible characters."""
    text = request.inputs.ai_output
    folded = FoldedText(text)
    addressed = find_injections(text, folded)
    findings = [
        ArtifactFinding(
            finding.kind, finding.message, text[slice(*finding.span)], location(finding.span, request.inputs)
        )
        for finding in addressed[:_MAX_FINDINGS]
    ]
    if len(addressed) > _MAX_FINDINGS:
        more = f"Not listed: {pluralize(len(addressed) - _MAX_FINDINGS, 'more passage')} like these."
        findings.append(ArtifactFinding("more_findings", more, count=len(addressed) - _MAX_FINDINGS))
    excluded = tuple(finding.span for finding in addressed)
    evidence = with_blanks(text, excluded)
    folded_evidence = FoldedText(evidence) if excluded else folded
    with time_budget(MAX_PATTERN_SECONDS):
        scans = {
            check.id: patterns.scan(check, evidence, folded_evidence)
            for check in request.playbook.checks
            if check.patterns
        }
    return ScanResult(
        patterns=scans,
        findings=(*findings, *invisible_characters(text), *look_alike_letters(request.inputs, folded)),
        addressed=excluded,
    )


def judged_by(judge: Judge) -> JudgedBy:
    model = judge.name.removeprefix(f"{judge.provider}/")
    return JudgedBy(
        judge.provider, model, judge.prompt_id, judge.deterministic, judge.calibration, judge.track_record()
    )


def build_case(request: EvaluationRequest, scan_result: ScanResult, check: Check, run: int) -> Case:
    matches = scan_result.patterns.get(check.id)
    return Case(check, request.inputs, run, matches.hits if matches else (), scan_result.addressed)


def redact_answer(answer: JudgeAnswer, redactor: Redactor) -> JudgeAnswer:
    """Redact before anything is decided, so that what is decided on is what is stored. Quotes are the text's own."""
    return replace(
        answer, notes=redactor.text(answer.notes), raw=redactor.text(answer.raw), problem=redactor.text(answer.problem)
    )


@dataclass(slots=True)
class _Questions:
    """The questions of one evaluation, and the votes on them so far."""

    request: EvaluationRequest
    scan_result: ScanResult
    context: EvaluationContext
    recorder: EvaluationRecorder
    votes: dict[tuple[str, int], Vote]
    hopeless: bool = False
    """No further call can succeed: a key that was refused once will be refused again."""
    call_starts: list[float] = field(default_factory=list)
    """By the monotonic clock, of the calls that have not been answered yet."""

    async def ask_all(self) -> PoolStopped | None:
        """Ask every question that has no vote yet, all at once. Return why this was stopped, if it was."""
        cases = [
            build_case(self.request, self.scan_result, check, run)
            for check, run in self.request.cases
            if (check.id, run) not in self.votes
        ]
        self._notify()
        # One question goes first if the others can then read the provider's cache.
        alone = 1 if len(cases) > 1 and self.context.judge.goes_first(self.request.inputs) else 0
        for group in (cases[:alone], cases[alone:]):
            for stopped in await gather(map(self._ask, group)):
                if stopped is not None:
                    return stopped
        return None

    async def _ask(self, case: Case) -> PoolStopped | None:
        vote = await self.context.pool.run(lambda: self._vote(case))
        if vote is None or isinstance(vote, PoolStopped):
            return vote
        sequence = await self.recorder.save_vote(vote)
        self.votes[vote.key] = vote
        self._notify(vote, sequence)
        return None

    async def _vote(self, case: Case) -> Vote | None:
        if self.hopeless:
            return None
        context = self.context
        recording = None
        if context.wire is not None:
            retrying = RetryingWire(
                context.wire, policy=context.retry_policy, clock=context.clock, listener=context.on_event
            )
            recording = RecordingWire(retrying, context.redactor, _RECORDING)
        with self._open_call():
            answer = redact_answer(await context.judge.judge(case, recording), context.redactor)
        self.hopeless |= answer.hopeless
        return Vote(case.check.id, case.run, answer, tuple(recording.tape.exchanges) if recording else ())

    @contextmanager
    def _open_call(self) -> Iterator[None]:
        """Report a call to a provider while it lasts."""
        if self.context.wire is None:
            yield
            return
        start = self.context.clock.monotonic()
        self.call_starts.append(start)
        self._notify_open_calls()
        try:
            yield
        finally:
            self.call_starts.remove(start)
            self._notify_open_calls()

    def _notify_open_calls(self) -> None:
        now = self.context.clock.monotonic()
        self.context.on_event(OpenCalls(len(self.call_starts), min(self.call_starts, default=now)))

    def _notify(self, vote: Vote | None = None, sequence: int | None = None) -> None:
        answered, total = len(self.votes), len(self.request.cases)
        self.context.on_event(EvaluationProgress(self._progress(), answered, total, vote, sequence))

    def _progress(self) -> str:
        """Describe the first question that was not answered yet; in the end, how many answers could be read."""
        numbers = {check.id: number for number, check in enumerate(self.request.playbook.checks, start=1)}
        checks, runs = len(numbers), self.request.runs
        for check, run in self.request.cases:
            if (check.id, run) not in self.votes:
                return f"Running check {numbers[check.id]}/{checks}, run {run}/{runs}"
        judged = pluralize(len(self.request.playbook.judged_checks), "check")
        if self.context.judge.deterministic:
            return f"Judged {judged}"
        valid = sum(vote.answer.result is not None for vote in self.votes.values())
        return f"Asked about {judged}: {valid} of {pluralize(len(self.request.cases), 'answer')} could be read"
