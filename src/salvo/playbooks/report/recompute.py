"""Compute again what a report says from the votes that it lists, with the functions that built it. Pure.

A report that was altered after it was made, and hashed again, no longer follows from its votes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from salvo.engine.text.formatting import pluralize
from salvo.errors import InputError
from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Result
from salvo.playbooks.playbook.definition import Check, Playbook, Variance
from salvo.playbooks.report import drift, status
from salvo.playbooks.report.builder import snapshot
from salvo.playbooks.report.evidence.citations import why_unsupported
from salvo.playbooks.report.report import VOTE_RULE, CheckResult, Report, is_deterministic
from salvo.playbooks.report.status import StatusOutcome
from salvo.playbooks.report.votes import variance
from salvo.playbooks.report.votes.check_result import derived_confidence
from salvo.playbooks.report.votes.decision import decide

_TOLERANCE = 1e-9
"""Of numbers that were written to JSON and read again."""


@dataclass(slots=True)
class Recomputation:
    contradictions: list[str] = field(default_factory=list)
    """What does not follow from the votes."""
    omissions: list[str] = field(default_factory=list)
    """What was not computed again, each with the reason."""

    def compare(self, what: str, stated: object, computed: object) -> None:
        if stated != computed:
            self.contradictions.append(f"{what} is {_text(stated)}, by the votes it is {_text(computed)}")

    def compare_number(self, what: str, stated: float | None, computed: float | None) -> None:
        """Compare two numbers. Earlier versions wrote null where there is none, and newer ones 0."""
        if abs((stated or 0.0) - (computed or 0.0)) > _TOLERANCE:
            self.compare(what, stated, computed)


def recompute(report: Report, playbook: Playbook | None = None, baseline: Report | None = None) -> Recomputation:
    """Compute everything again that the votes decide, and what playbook and baseline decide if they are at hand.

    The votes are counted by the rule that the report names. InputError if this version does not know it.
    """
    rule = report.variance_summary.vote_rule
    if not 1 <= rule <= VOTE_RULE:
        raise InputError(f"its votes are counted by rule {rule}, which this version of Salvo does not know.")
    comparison = Recomputation()
    thresholds = _thresholds(report)
    if playbook is not None:
        _compare_settings(comparison, report, playbook)
    checks = {} if playbook is None else {check.id: check for check in playbook.checks}
    judged_checks = [check for check in report.check_results if check.decided_by == "evaluator"]
    results: dict[str, Result] = {}
    consistencies: dict[str, float | None] = {}
    for check in judged_checks:
        results[check.check_id], consistencies[check.check_id] = _compare_check(
            comparison, check, checks.get(check.check_id), report
        )
    overall = variance.overall((check.severity, consistencies[check.check_id]) for check in judged_checks)
    summary = report.variance_summary
    comparison.compare_number("the overall consistency", summary.consistency_score, overall)
    divergent = [check_id for check_id, value in consistencies.items() if value is not None and value < thresholds.ok]
    comparison.compare("the list of divergent findings", list(summary.divergent_findings), divergent)
    comparison.compare("incomplete", report.incomplete, any(check.incomplete for check in report.check_results))
    for check in report.check_results:
        if check.decided_by == "patterns":
            comparison.omissions.append(f"{check.check_id} (its patterns decide, not votes)")
        elif check.check_id == RUN_VARIANCE and check.decided_by == "derived":
            results[RUN_VARIANCE], _ = variance.run_variance(
                overall, thresholds, report.execution_mode, deterministic=is_deterministic(report.model_fingerprints)
            )
            comparison.compare(f"the result of {RUN_VARIANCE}", check.result, results[RUN_VARIANCE])
        elif check.check_id == DRIFT and check.decided_by == "derived":
            results[DRIFT] = _compare_drift(comparison, check, report, baseline)
        if check.decided_by == "derived" and rule > 1:  # earlier versions wrote none
            confidence = derived_confidence(results.get(check.check_id, check.result))
            comparison.compare_number(f"the confidence of {check.check_id}", check.per_check_confidence, confidence)
    _compare_status(comparison, report, results, overall)
    return comparison


def _thresholds(report: Report) -> Variance:
    summary = report.variance_summary
    return Variance(aggregation=summary.aggregation, ok=summary.threshold_ok, warn=summary.threshold_warn)


def _compare_settings(comparison: Recomputation, report: Report, playbook: Playbook) -> None:
    """Compare what the report took from the playbook: severities, thresholds and which checks there are."""
    summary = report.variance_summary
    comparison.compare(
        "the list of checks",
        [check.check_id for check in report.check_results],
        [check.id for check in playbook.checks],
    )
    severities = {check.id: check.severity for check in playbook.checks}
    for check in report.check_results:
        expected = severities.get(check.check_id, check.severity)
        if check.severity is not expected:
            comparison.contradictions.append(
                f"the severity of {check.check_id} is {check.severity}, by the playbook it is {expected}"
            )
    for what, stated, expected_value in (
        ("the upper threshold", summary.threshold_ok, playbook.variance.ok),
        ("the lower threshold", summary.threshold_warn, playbook.variance.warn),
        ("the aggregation", summary.aggregation, playbook.variance.aggregation),
    ):
        if stated != expected_value:
            comparison.contradictions.append(f"{what} is {stated}, by the playbook it is {expected_value}")


def _compare_check(
    comparison: Recomputation, check: CheckResult, definition: Check | None, report: Report
) -> tuple[Result, float | None]:
    """Return the result and the consistency by the votes."""
    name, runs = check.check_id, report.variance_summary.num_runs
    if len(check.raw_runs) != runs:
        comparison.contradictions.append(
            f"{name} lists {pluralize(len(check.raw_runs), 'run')}, the report says {runs} per check"
        )
    if [run.run for run in check.raw_runs] != list(range(1, len(check.raw_runs) + 1)):
        comparison.contradictions.append(f"the runs of {name} are not numbered from 1")
    _compare_support(comparison, check, definition, report.variance_summary.vote_rule)
    needed = _needed_citations(check) if definition is None else definition.min_citations_per_fail
    decision = decide(check.raw_runs, needed, report.variance_summary.aggregation, report.execution_mode)
    if definition is None and Result.FAIL in (decision.result, decision.raw_result):
        comparison.omissions.append(f"whether {name} has enough quotes (the playbook says how many)")
    comparison.compare(f"the result of {name}", check.result, decision.result)
    comparison.compare(f"the raw result of {name}", check.raw_result, decision.raw_result)
    comparison.compare(f"whether votes are missing for {name}", check.incomplete, decision.incomplete)
    comparison.compare(f"whether the evaluator abstained on {name}", check.abstained, decision.abstained)
    comparison.compare_number(f"the confidence of {name}", check.per_check_confidence, decision.confidence)
    comparison.compare_number(f"the consistency of {name}", check.per_check_consistency, decision.consistency)
    return decision.result, decision.consistency


def _compare_support(comparison: Recomputation, check: CheckResult, definition: Check | None, vote_rule: int) -> None:
    """Compare which runs count as votes. Before rule 2, all answers did."""
    for run in check.raw_runs:
        if definition is None and not run.evidence_citations and vote_rule > 1:
            continue  # whether a vote needs a quote is in the playbook
        result = run.result if run.valid and vote_rule > 1 else None
        expected = why_unsupported(definition, result, run.evidence_citations)
        if bool(run.unsupported) != bool(expected):
            stated, computed = ("not counted" if reason else "counted" for reason in (run.unsupported, expected))
            comparison.contradictions.append(
                f"run {run.run} of {check.check_id} is {stated} ({run.unsupported or 'no reason'}), "
                f"by its quotes it is {computed} ({expected or 'the text supports it, or it needs no quote'})"
            )


def _needed_citations(check: CheckResult) -> int:
    """Return a number of quotes with which the result is possible, if the playbook is not at hand."""
    return len(check.evidence_citations) + 1 if check.raw_result is Result.FAIL else 0


def _compare_drift(comparison: Recomputation, check: CheckResult, report: Report, baseline: Report | None) -> Result:
    summary = report.drift_summary
    if summary.kind == "not_compared":
        comparison.compare(f"the result of {DRIFT}", check.result, Result.INDETERMINATE)
        return Result.INDETERMINATE
    rule = report.variance_summary.vote_rule
    if rule == 1:
        comparison.omissions.append(f"{DRIFT} (an earlier version compared reports by other rules)")
        return check.result
    if baseline is None:
        comparison.omissions.append(f"{DRIFT} (its baseline is not at hand)")
        return check.result
    now, before = snapshot(report, rule), snapshot(baseline, rule)
    if report.integrity.has_same_inputs(baseline.integrity):
        now = replace(now, inputs_fingerprint=before.inputs_fingerprint)
    saved = bool(summary.baseline_saved)
    drifted = drift.compare(now, before, saved=saved, thresholds=_thresholds(report))
    comparison.compare(f"the result of {DRIFT}", check.result, drifted.result)
    comparison.compare("the kind of drift", summary.kind, drifted.summary.kind)
    return drifted.result


def _compare_status(
    comparison: Recomputation, report: Report, results: dict[str, Result], consistency: float | None
) -> None:
    is_neutral = report.drift_summary.kind == "not_compared"
    outcomes = [
        StatusOutcome(
            check.check_id,
            check.severity,
            results.get(check.check_id, check.result),
            check.check_id == DRIFT and is_neutral,
        )
        for check in report.check_results
    ]
    overall, reasons = status.overall(
        outcomes,
        consistency,
        _thresholds(report),
        report.execution_mode,
        deterministic=is_deterministic(report.model_fingerprints),
    )
    comparison.compare("the status", report.summary.overall_status, overall)
    if report.variance_summary.vote_rule == 1:
        comparison.omissions.append("the reasons for the status (an earlier version worded them)")
    elif report.summary.overall_status is overall:
        comparison.compare("the list of reasons for the status", list(report.summary.status_reasons), list(reasons))


def _text(value: object) -> str:
    if isinstance(value, list):
        return f"“{' '.join(map(str, value))}”" if value else "empty"
    return "none" if value is None else str(value)
