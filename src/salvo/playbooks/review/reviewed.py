"""The status of a report by what reviewers decided. Pure; the report itself is not altered."""

from __future__ import annotations

from dataclasses import replace

from salvo.playbooks.enums import DRIFT
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report import status
from salvo.playbooks.report.report import Report, is_deterministic, measured_consistency
from salvo.playbooks.report.status import StatusOutcome
from salvo.playbooks.review.state import ReviewState


def as_reviewed(report: Report, state: ReviewState) -> Report:
    """Return the report with the results and the status that count after the review, for gates and JUnit.

    It is a view: it has the hash of the report that was reviewed, and is never stored. Votes that are missing count
    only where no reviewer decided. Once every judged check is decided by people, how well the evaluator agreed with
    itself and with the baseline no longer matters.
    """
    if not state.has_decisions:
        return report
    reviews = {check.check_id: check for check in state.checks}
    checks = tuple(
        replace(
            check,
            result=reviews[check.check_id].reviewed_result,
            incomplete=check.incomplete and not reviews[check.check_id].decisions,
        )
        for check in report.check_results
    )
    decided_by_people = not any(check.waits for check in state.checks)
    outcomes = [
        StatusOutcome(check.check_id, check.severity, check.result, _is_neutral(report, check.check_id))
        for check in checks
        # Earlier versions let people decide derived checks.
        if not (decided_by_people and check.decided_by == "derived" and not reviews[check.check_id].decisions)
    ]
    summary = report.variance_summary
    overall, reasons = status.overall(
        outcomes,
        None if decided_by_people else measured_consistency(report),
        Variance(aggregation=summary.aggregation, ok=summary.threshold_ok, warn=summary.threshold_warn),
        report.execution_mode,
        deterministic=is_deterministic(report.model_fingerprints),
    )
    return replace(
        report,
        check_results=checks,
        incomplete=any(check.incomplete for check in checks),
        summary=replace(report.summary, overall_status=overall, status_reasons=reasons),
    )


def _is_neutral(report: Report, check_id: str) -> bool:
    return check_id == DRIFT and report.drift_summary.kind == "not_compared"
