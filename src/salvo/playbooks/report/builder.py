"""Build the report from the request and the votes. Pure: the same votes always give the same report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from salvo.engine.chat.base import Usage
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Mode, Result, Status
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.evaluate.patterns import Scan
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT, UNKNOWN, EvaluationRequest, producer_fingerprint
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, Vote
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report import advice, drift, status
from salvo.playbooks.report.drift import Drift, Snapshot
from salvo.playbooks.report.evidence.citations import CitationFinder
from salvo.playbooks.report.report import (
    REPORT_HASH_METHOD,
    SPEC_VERSION,
    VOTE_RULE,
    ArtifactFinding,
    Calibration,
    CheckResult,
    Citation,
    ExtractedAssumption,
    Fingerprints,
    Integrity,
    ModelFingerprint,
    PresentationRules,
    Report,
    Spending,
    Summary,
    UncheckedArea,
    VarianceSummary,
    is_deterministic,
    measured_consistency,
)
from salvo.playbooks.report.status import StatusOutcome
from salvo.playbooks.report.votes import check_result, variance
from salvo.records import record
from salvo.version import __version__

T = TypeVar("T", float, Usage)

RUNNER = "salvo-byop"
RUNNER_FINGERPRINT = f"{RUNNER}/{__version__}"


@record
class JudgedBy:
    """What the report says about its evaluator, besides what was measured."""

    provider: str | None
    model: str
    prompt_id: str
    deterministic: bool
    """It works by rules, and always gives the same answer."""
    calibration: Callable[[str, Result], Calibration | None] = lambda _check_id, _result: None
    """How often its result on a check agreed with independent labels, if that was measured."""
    track_record: str = ""
    """The same for all checks, in a sentence."""


@record
class BaselineReport:
    report: Report
    saved: bool
    """False if it is the newest earlier report, which nobody saved as a baseline."""


@record
class ScanResult:
    """What was found in the text before the evaluator was asked."""

    patterns: Mapping[str, Scan]
    """By the id of the check."""
    findings: tuple[ArtifactFinding, ...]
    addressed: tuple[Span, ...]
    """Passages that address the evaluator."""


def build_report(
    request: EvaluationRequest,
    votes: Iterable[Vote],
    scan_result: ScanResult,
    judge: JudgedBy,
    *,
    timestamp: str,
    baseline: BaselineReport | str,
    wall_seconds: float | None = None,
) -> Report:
    """Build the report. `baseline` is the report to compare with, or the reason why there is none."""
    thresholds = request.playbook.variance
    answers: dict[str, dict[int, JudgeAnswer]] = {}
    for vote in votes:
        answers.setdefault(vote.check_id, {})[vote.run] = vote.answer
    measured = [answer.measured for runs in answers.values() for answer in runs.values()]
    fingerprints = Fingerprints(_evaluator(judge, measured), producer_fingerprint(request.producer))
    decided = [_calibrated(check, judge) for check in _decided(request, answers, scan_result)]
    consistency = variance.overall(
        (check.severity, check.per_check_consistency) for check in decided if check.decided_by == "evaluator"
    )
    integrity = Integrity(
        playbook_logic_hash=request.playbook.logic_hash,
        inputs_fingerprint=request.inputs.fingerprint,
        runner_fingerprint=RUNNER_FINGERPRINT,
        raw_inputs=dict(request.inputs.raw_hashes or {}),
        report_hash_method=REPORT_HASH_METHOD,
    )
    if isinstance(baseline, str):
        drifted = drift.not_compared(baseline)
    else:
        earlier = baseline.report.integrity
        texts = (earlier if integrity.has_same_inputs(earlier) else integrity).inputs_fingerprint
        compared = None if judge.deterministic else consistency
        now = Snapshot(request.report_id, timestamp, texts, tuple(decided), compared, fingerprints)
        drifted = drift.compare(now, snapshot(baseline.report), saved=baseline.saved, thresholds=thresholds)
    stability = variance.run_variance(consistency, thresholds, request.mode, deterministic=judge.deterministic)
    results = tuple(_with_derived(request, decided, stability, drifted))
    outcomes = [
        StatusOutcome(check.check_id, check.severity, check.result, check.check_id == DRIFT and drifted.neutral)
        for check in results
    ]
    overall, reasons = status.overall(
        outcomes, consistency, thresholds, request.mode, deterministic=judge.deterministic
    )
    incomplete = any(check.incomplete for check in results)
    report = Report(
        spec_version=SPEC_VERSION,
        report_id=request.report_id,
        playbook_id=request.playbook.id,
        playbook_version=request.playbook.version,
        execution_mode=request.mode,
        timestamp=timestamp,
        subject=request.subject,
        evaluator=request.evaluator,
        incomplete=incomplete,
        summary=Summary(
            overall_status=overall,
            status_reasons=reasons,
            key_risks=advice.key_risks(results, scan_result.findings),
            recommended_next_steps=advice.next_steps(
                results,
                drifted.summary,
                request.mode,
                incomplete=incomplete,
                named_subject=request.subject != DEFAULT_SUBJECT,
            ),
            mending_prompt=advice.mending_prompt(results),
        ),
        check_results=results,
        variance_summary=VarianceSummary(
            num_runs=request.runs,
            consistency_score=0.0 if consistency is None and request.mode is Mode.FULL else consistency,
            divergent_findings=tuple(
                check.check_id
                for check in decided
                if check.per_check_consistency is not None and check.per_check_consistency < thresholds.ok
            ),
            threshold_ok=thresholds.ok,
            threshold_warn=thresholds.warn,
            aggregation=thresholds.aggregation,
            vote_rule=VOTE_RULE,
            note=variance.what_it_shows(
                request.runs, deterministic=judge.deterministic, measured=consistency is not None
            ),
        ),
        drift_summary=drifted.summary,
        artifact_findings=scan_result.findings,
        assumptions_extracted=tuple(
            ExtractedAssumption(citation.span, citation.location)
            for citation in _stated(results, "assumption_disclosure")
        ),
        uncertainty=_uncertainty(results),
        unchecked_areas=_unchecked(request, results, deterministic=judge.deterministic),
        limitations=_limitations(request, judge, measured, scan_result, incomplete=incomplete),
        model_fingerprints=fingerprints,
        spent=_spent(measured, wall_seconds),
        integrity=integrity,
        presentation_rules=PresentationRules(label=request.mode.label),
        input_notices=request.inputs.notices,
        document_identity=request.document_identity,
    )
    return with_hash(report)


def _decided(
    request: EvaluationRequest, answers: Mapping[str, Mapping[int, JudgeAnswer]], scan_result: ScanResult
) -> list[CheckResult]:
    """Return the results of all checks that are not derived from the others."""
    finder = CitationFinder(request.inputs, scan_result.addressed)
    results = []
    for check in request.playbook.checks:
        scan = scan_result.patterns.get(check.id, Scan())
        if check.needs_judge:
            results.append(check_result.from_votes(check, answers.get(check.id, {}), request, finder, scan.hits))
        elif not check.derived:
            excludes_text = bool(scan_result.addressed)
            results.append(check_result.from_patterns(check, scan, request.inputs, excludes_text=excludes_text))
    return results


def snapshot(report: Report, vote_rule: int = VOTE_RULE) -> Snapshot:
    """Return what is compared, by the rules of the report that is compared: see `VarianceSummary.vote_rule`."""
    is_no_evidence = vote_rule >= 3 and is_deterministic(report.model_fingerprints)
    return Snapshot(
        report.report_id,
        report.timestamp,
        report.integrity.inputs_fingerprint,
        report.check_results,
        None if is_no_evidence else measured_consistency(report),
        report.model_fingerprints,
    )


def _with_derived(
    request: EvaluationRequest, decided: list[CheckResult], stability: tuple[Result, str], drifted: Drift
) -> Iterable[CheckResult]:
    """Return all results in the order of the playbook. `stability` is the outcome of the check on variance."""
    by_id = {check.check_id: check for check in decided}
    for check in request.playbook.checks:
        if check.id == RUN_VARIANCE:
            yield check_result.derived(check, *stability)
        elif check.id == DRIFT:
            yield check_result.derived(check, drifted.result, drifted.notes)
        else:
            yield by_id[check.id]


def judged_status(report: Report) -> Status:
    """Return the status of what was judged: an error of the provider, or of ours, does not count against the text."""
    if not report.incomplete:
        return report.summary.overall_status
    outcomes = [
        StatusOutcome(check.check_id, check.severity, check.result)
        for check in report.check_results
        if not check.incomplete and check.decided_by != "derived"
    ]
    thresholds = Variance(ok=report.variance_summary.threshold_ok, warn=report.variance_summary.threshold_warn)
    return status.overall(outcomes, measured_consistency(report), thresholds, report.execution_mode)[0]


def _stated(results: Iterable[CheckResult], check_id: str) -> list[Citation]:
    """Return the passages that made the check pass: what the text states, in its own words."""
    passed = (check for check in results if check.check_id == check_id and check.result is Result.PASS)
    return [citation for check in passed for citation in check.evidence_citations]


def _calibrated(check: CheckResult, judge: JudgedBy) -> CheckResult:
    if check.decided_by != "evaluator" or check.incomplete or check.abstained or check.raw_result is not None:
        return check
    return replace(check, calibration=judge.calibration(check.check_id, check.result))


def _uncertainty(results: Iterable[CheckResult]) -> tuple[str, ...]:
    sentences = []
    for check in results:
        if check.incomplete:
            valid = sum(run.valid for run in check.raw_runs)
            sentences.append(f"{check.check_id}: only {valid} of {pluralize(len(check.raw_runs), 'run')} gave a vote.")
        elif check.raw_result is not None:
            sentences.append(
                f"{check.check_id}: it would be {check.raw_result}, "
                "but not enough evidence for that was found in the text."
            )
        elif check.result is Result.INDETERMINATE:
            sentences.append(f"{check.check_id}: indeterminate. {check.notes}")
        if check.dissent:
            votes = ", ".join(f"run {dissent.run}: {dissent.result}" for dissent in check.dissent)
            sentences.append(f"{check.check_id}: the runs disagree ({votes}).")
    return tuple(sentences)


def _unchecked(
    request: EvaluationRequest, results: Iterable[CheckResult], *, deterministic: bool
) -> tuple[UncheckedArea, ...]:
    stated = [
        UncheckedArea(citation.span, "output", citation.location)
        for citation in _stated(results, "unchecked_areas_disclosure")
    ]
    unchecked = [
        "Whether the text is legally correct: a playbook examines how a text is written, not whether it is right."
    ]
    only_output = "the rules read only the AI output"
    if request.inputs.source_document is None or deterministic:
        reason = "no source document was given" if request.inputs.source_document is None else only_output
        unchecked.append(f"Whether the text agrees with its source: {reason}.")
    if request.inputs.prompt is None or deterministic:
        reason = "no prompt was given" if request.inputs.prompt is None else only_output
        unchecked.append(f"Whether the text answers its prompt: {reason}.")
    unchecked += [f"{check.check_id}: not enough votes." for check in results if check.incomplete]
    return (*stated, *(UncheckedArea(area, "runner") for area in unchecked))


def _limitations(
    request: EvaluationRequest,
    judge: JudgedBy,
    measured: Sequence[CallMetrics],
    scan_result: ScanResult,
    *,
    incomplete: bool,
) -> tuple[str, ...]:
    sentences = [f"{check_id}: {note}" for check_id, scan in scan_result.patterns.items() for note in scan.notes]
    if request.mode is Mode.SCREENING:
        sentences.append(f"{request.mode.label}: one run per check, no baseline, no drift.")
    if judge.deterministic:
        sentences.append(
            "The evaluator is deterministic: it always agrees with itself, so its consistency says nothing about how "
            "clear the text is. It applies linguistic rules for English and does not understand law."
        )
        sentences += [judge.track_record] if judge.track_record else []
    elif any(facts.calls and facts.temperature is None for facts in measured):
        sentences.append(
            f"At least one call to {request.evaluator} was made without a temperature, so its answers may vary."
        )
    if not judge.deterministic:
        sentences.append(
            "The evaluator is a language model: it can be wrong, and its provider can change it at any time."
        )
    if any(facts.batched for facts in measured):
        every = "The" if all(facts.batched for facts in measured if facts.calls) else "Some"
        sentences.append(
            f"{every} votes came through the batch API of the evaluator's provider, which answers within a day and "
            "charges half the price."
        )
    if incomplete:
        sentences.append("Incomplete: for some checks, fewer than a majority of the runs gave a valid vote.")
    return tuple(sentences)


def _evaluator(judge: JudgedBy, measured: Sequence[CallMetrics]) -> ModelFingerprint:
    returned = sorted({facts.model for facts in measured if facts.model})
    temperatures = {facts.temperature for facts in measured if facts.calls}
    systems = sorted({facts.system_fingerprint for facts in measured if facts.system_fingerprint})
    return ModelFingerprint(
        declared_model_name=judge.model,
        declared_model_version=", ".join(returned) or (RUNNER_FINGERPRINT if judge.deterministic else UNKNOWN),
        provider=judge.provider,
        routing_or_mode=None if judge.deterministic else _routing(measured),
        temperature=temperatures.pop() if len(temperatures) == 1 else None,
        system_prompt_id=judge.prompt_id,
        other_runtime_metadata={"system_fingerprints": systems} if systems else {},
    )


def _routing(measured: Sequence[CallMetrics]) -> str:
    """Return how the evaluator was called, as far as it is known."""
    batched = {facts.batched for facts in measured if facts.calls}
    return {frozenset({True}): "batch API", frozenset({True, False}): "partly batch API"}.get(
        frozenset(batched), UNKNOWN
    )


def _spent(measured: Sequence[CallMetrics], wall_seconds: float | None) -> Spending:
    """Return the sums, with None where a part is unknown."""
    billed = [facts for facts in measured if facts.calls]
    usage = _sum([facts.usage for facts in billed], lambda parts: sum(parts, Usage()))
    return Spending(
        calls=sum(facts.calls for facts in billed),
        tokens=None if usage is None else check_result.token_counts(usage),
        cost_usd=_sum([facts.cost_usd for facts in billed], math.fsum),
        seconds=_sum([facts.seconds for facts in billed], math.fsum),
        wall_seconds=wall_seconds,
    )


def _sum(parts: Sequence[T | None], add: Callable[[Sequence[T]], T]) -> T | None:
    """Add up the parts; the sum must not depend on the order in which votes arrive."""
    present = [part for part in parts if part is not None]
    return add(present) if len(present) == len(parts) else None
