"""Makes the report from what was asked and what was answered. Pure: the same votes give the same report, always."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from salvo.engine.chat.base import Usage
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Mode, Result, Status
from salvo.playbooks.evaluate.injection import odd_characters
from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.evaluate.patterns import Scan
from salvo.playbooks.evaluate.request import UNKNOWN, EvaluationRequest, producer_fingerprint
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, Vote
from salvo.playbooks.playbook.schema import Variance
from salvo.playbooks.report import advice, checks, drift, status, variance
from salvo.playbooks.report.drift import Drift, Snapshot
from salvo.playbooks.report.evidence import Locator
from salvo.playbooks.report.report import (
    SPEC_VERSION,
    ArtifactFinding,
    CheckResult,
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
)
from salvo.version import __version__

T = TypeVar("T", float, Usage)

RUNNER = "salvo-byop"
RUNNER_FINGERPRINT = f"{RUNNER}/{__version__}"


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """What the report says of its judge, beside what was measured."""

    provider: str | None
    model: str
    prompt_id: str
    deterministic: bool


@dataclass(frozen=True, slots=True)
class BaselineReport:
    report: Report
    saved: bool


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What was seen in the text before anyone was asked."""

    patterns: Mapping[str, Scan]
    """By the id of the check."""
    findings: tuple[ArtifactFinding, ...]
    addressed: tuple[Span, ...]
    """Passages that address the evaluator."""


def build_report(
    order: EvaluationRequest,
    votes: Iterable[Vote],
    scanned: ScanResult,
    judge: JudgedBy,
    *,
    timestamp: str,
    baseline: BaselineReport | str,
) -> Report:
    """`baseline` is the report to compare with, or why there is none."""
    ballots = _by_check(votes)
    measured = [ballot.measured for runs in ballots.values() for ballot in runs.values()]
    fingerprints = Fingerprints(_evaluator(judge, measured), producer_fingerprint(order.producer))
    decided = _decided(order, ballots, scanned)
    consistency = variance.overall(
        (check.severity, check.per_check_consistency) for check in decided if check.decided_by == "evaluator"
    )
    drifted = _drift(order, decided, consistency, fingerprints, timestamp, baseline)
    results = tuple(_with_derived(order, decided, consistency, drifted))
    overall, reasons = status.overall(
        [_outcome(check, drifted) for check in results], consistency, order.playbook.variance, order.mode
    )
    incomplete = any(check.incomplete for check in results)
    report = Report(
        spec_version=SPEC_VERSION,
        report_id=order.report_id,
        playbook_id=order.playbook.id,
        playbook_version=order.playbook.version,
        execution_mode=order.mode,
        timestamp=timestamp,
        subject=order.subject,
        evaluator=order.evaluator,
        incomplete=incomplete,
        summary=Summary(
            overall_status=overall,
            status_reasons=reasons,
            key_risks=advice.key_risks(results, scanned.findings),
            recommended_next_steps=advice.next_steps(results, drifted.summary, order.mode, incomplete=incomplete),
            mending_prompt=advice.mending_prompt(results),
        ),
        check_results=results,
        variance_summary=VarianceSummary(
            num_runs=order.runs,
            consistency_score=consistency,
            divergent_findings=_divergent(decided, order),
            threshold_ok=order.playbook.variance.ok,
            threshold_warn=order.playbook.variance.warn,
            aggregation=order.playbook.variance.aggregation,
            note=variance.what_it_shows(order.runs, deterministic=judge.deterministic),
        ),
        drift_summary=drifted.summary,
        artifact_findings=scanned.findings,
        assumptions_extracted=_assumptions(results),
        uncertainty=_uncertainty(results),
        unchecked_areas=_unchecked(order, results),
        limitations=_limitations(order, judge, measured, scanned, incomplete=incomplete),
        model_fingerprints=fingerprints,
        spent=_spent(measured),
        integrity=Integrity(
            playbook_logic_hash=order.playbook.logic_hash,
            inputs_fingerprint=order.inputs.fingerprint,
            runner_fingerprint=RUNNER_FINGERPRINT,
            raw_inputs=dict(order.inputs.raw_hashes or {}),
        ),
        presentation_rules=PresentationRules(label=order.mode.label),
    )
    return with_hash(report)


def _by_check(votes: Iterable[Vote]) -> dict[str, dict[int, JudgeAnswer]]:
    found: dict[str, dict[int, JudgeAnswer]] = {}
    for vote in votes:
        found.setdefault(vote.check_id, {})[vote.run] = vote.ballot
    return found


def _decided(
    order: EvaluationRequest, ballots: Mapping[str, Mapping[int, JudgeAnswer]], scanned: ScanResult
) -> list[CheckResult]:
    """Every check that does not follow from the others."""
    locator = Locator(order.inputs.ai_output)
    found = []
    for check in order.playbook.checks:
        scan = scanned.patterns.get(check.id, Scan())
        if check.judged:
            found.append(checks.judged(check, ballots.get(check.id, {}), order, locator, scan.hits))
        elif not check.derived:
            found.append(checks.by_patterns(check, scan, order.inputs))
    return found


def _drift(
    order: EvaluationRequest,
    decided: list[CheckResult],
    consistency: float | None,
    fingerprints: Fingerprints,
    timestamp: str,
    baseline: BaselineReport | str,
) -> Drift:
    if isinstance(baseline, str):
        return drift.not_compared(baseline)
    now = Snapshot(order.report_id, timestamp, order.inputs.fingerprint, tuple(decided), consistency, fingerprints)
    return drift.compare(now, snapshot(baseline.report), saved=baseline.saved, thresholds=order.playbook.variance)


def snapshot(report: Report) -> Snapshot:
    return Snapshot(
        report.report_id,
        report.timestamp,
        report.integrity.inputs_fingerprint,
        report.check_results,
        report.variance_summary.consistency_score,
        report.model_fingerprints,
    )


def _with_derived(
    order: EvaluationRequest, decided: list[CheckResult], consistency: float | None, drifted: Drift
) -> Iterable[CheckResult]:
    """All checks in the playbook's order."""
    known = {check.check_id: check for check in decided}
    for check in order.playbook.checks:
        if check.id == RUN_VARIANCE:
            yield checks.derived(check, *variance.run_variance(consistency, order.playbook.variance, order.mode))
        elif check.id == DRIFT:
            yield checks.derived(check, drifted.result, drifted.notes)
        else:
            yield known[check.id]


def _outcome(check: CheckResult, drifted: Drift) -> status.StatusOutcome:
    neutral = check.check_id == DRIFT and drifted.neutral
    return status.StatusOutcome(check.check_id, check.severity, check.result, neutral)


def judged_status(report: Report) -> Status:
    """The status by what was judged alone: a provider's fault, or ours, counts against no text."""
    if not report.incomplete:
        return report.summary.overall_status
    judged = [
        status.StatusOutcome(check.check_id, check.severity, check.result)
        for check in report.check_results
        if not check.incomplete and check.decided_by != "derived"
    ]
    thresholds = Variance(ok=report.variance_summary.threshold_ok, warn=report.variance_summary.threshold_warn)
    return status.overall(judged, report.variance_summary.consistency_score, thresholds, report.execution_mode)[0]


def _divergent(decided: Iterable[CheckResult], order: EvaluationRequest) -> tuple[str, ...]:
    return tuple(
        check.check_id
        for check in decided
        if check.per_check_consistency is not None and check.per_check_consistency < order.playbook.variance.ok
    )


def _assumptions(results: Iterable[CheckResult]) -> tuple[ExtractedAssumption, ...]:
    """The passages that the check on assumptions passed on: what the text states, in its own words."""
    return tuple(
        ExtractedAssumption(citation.span, citation.location)
        for check in results
        if check.check_id == "assumption_disclosure" and check.result is Result.PASS
        for citation in check.evidence_citations
    )


def _uncertainty(results: Iterable[CheckResult]) -> tuple[str, ...]:
    found = []
    for check in results:
        if check.incomplete:
            valid = sum(run.valid for run in check.raw_runs)
            found.append(f"{check.check_id}: only {valid} of {len(check.raw_runs)} runs gave a vote.")
        elif check.raw_result is not None:
            found.append(f"{check.check_id}: the vote was {check.raw_result}, but no quote for it stands in the text.")
        elif check.result is Result.INDETERMINATE:
            found.append(f"{check.check_id}: indeterminate. {check.notes}")
        if check.dissent:
            votes = ", ".join(f"run {dissent.run} said {dissent.result}" for dissent in check.dissent)
            found.append(f"{check.check_id}: the runs do not agree ({votes}).")
    return tuple(found)


def _unchecked(order: EvaluationRequest, results: Iterable[CheckResult]) -> tuple[UncheckedArea, ...]:
    stated = [
        UncheckedArea(citation.span, "output", citation.location)
        for check in results
        if check.check_id == "unchecked_areas_disclosure" and check.result is Result.PASS
        for citation in check.evidence_citations
    ]
    ours = ["Whether the text is right in law: a playbook observes how a text is written, not whether it is correct."]
    if order.inputs.source_document is None:
        ours.append("Whether the text says what its source says: no source document was given.")
    if order.inputs.prompt is None:
        ours.append("Whether the text answers what was asked: no prompt was given.")
    ours += [f"{check.check_id}: not enough votes." for check in results if check.incomplete]
    return (*stated, *(UncheckedArea(area, "runner") for area in ours))


def _limitations(
    order: EvaluationRequest, judge: JudgedBy, measured: Sequence[CallMetrics], scanned: ScanResult, *, incomplete: bool
) -> tuple[str, ...]:
    found = [f"{check_id}: {note}" for check_id, scan in scanned.patterns.items() for note in scan.notes]
    if order.mode is Mode.SCREENING:
        found.append(f"{order.mode.label}: one run a check, no baseline, no drift.")
    if judge.deterministic:
        found.append(
            "The evaluator is deterministic: it agrees with itself by construction, so its consistency says nothing "
            "about how clear the text is. It works by linguistic rules, in English, and understands no law."
        )
    elif any(facts.calls and facts.temperature is None for facts in measured):
        found.append(f"{order.evaluator} takes no temperature, so none was sent: its answers vary as it pleases.")
    if not judge.deterministic:
        found.append("The evaluator is a language model: it can be wrong, and its provider can change it unannounced.")
    if incomplete:
        found.append("Incomplete: some checks have fewer than a majority of valid votes.")
    return tuple(found)


def _evaluator(judge: JudgedBy, measured: Sequence[CallMetrics]) -> ModelFingerprint:
    returned = sorted({facts.model for facts in measured if facts.model})
    temperatures = {facts.temperature for facts in measured if facts.calls}
    systems = sorted({facts.system_fingerprint for facts in measured if facts.system_fingerprint})
    return ModelFingerprint(
        declared_model_name=judge.model,
        declared_model_version=", ".join(returned) or (RUNNER_FINGERPRINT if judge.deterministic else UNKNOWN),
        provider=judge.provider,
        routing_or_mode=None if judge.deterministic else UNKNOWN,
        temperature=temperatures.pop() if len(temperatures) == 1 else None,
        system_prompt_id=judge.prompt_id,
        other_runtime_metadata={"system_fingerprints": systems} if systems else {},
    )


def _spent(measured: Sequence[CallMetrics]) -> Spending:
    """Sums of what is known; None where any part of it is not."""
    asked = [facts for facts in measured if facts.calls]
    usage = _sum([facts.usage for facts in asked], lambda known: sum(known, Usage()))
    return Spending(
        calls=sum(facts.calls for facts in asked),
        tokens=None if usage is None else checks.tokens_of(usage),
        cost_usd=_sum([facts.cost_usd for facts in asked], math.fsum),
        seconds=_sum([facts.seconds for facts in asked], math.fsum),
    )


def _sum(parts: Sequence[T | None], add: Callable[[Sequence[T]], T]) -> T | None:
    """Exact, because the order in which votes come in must not show."""
    known = [part for part in parts if part is not None]
    return add(known) if len(known) == len(parts) else None


def character_findings(text: str) -> Iterable[ArtifactFinding]:
    """Characters that are kept, counted and named: a reader cannot see them."""
    for odd in odd_characters(text):
        yield ArtifactFinding(odd.kind, odd.message, count=odd.times)
