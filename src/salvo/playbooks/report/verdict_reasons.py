"""Why a report has its verdict, in words for people who do not know the ids of checks. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Result, Severity
from salvo.playbooks.report import advice, labels
from salvo.playbooks.report.report import CheckResult, DriftKind, Report, measured_consistency
from salvo.records import record

# For the checks of the starter playbook; the others are described by their question.
_FAILED: Mapping[str, str] = {
    "assumption_disclosure": "Does not state its assumptions",
    "certainty_language": "Uses certainty that it does not justify",
    "escalation_signal": "Does not say when a person must review it",
    "unchecked_areas_disclosure": "Does not say what was not checked",
    RUN_VARIANCE: "The results of the runs diverge",
}
_DEGRADED = "Shows signs of degradation compared with {baseline}"
_PUT_DOWN_TO: Mapping[DriftKind, str] = {
    "output": "the text is different",
    "output_or_evaluator": "the text is different, but not all votes agreed",
    "judge": "the text is the same, and the evaluator is different",
    "evaluator_instability": "put down to the evaluator, not to the text",
}
_UNDECIDED: Mapping[str, str] = {
    "assumption_disclosure": "Not decided: whether it states its assumptions",
    "certainty_language": "Not decided: whether it uses certainty that it does not justify",
    "escalation_signal": "Not decided: whether it says when a person must review it",
    "unchecked_areas_disclosure": "Not decided: whether it says what was not checked",
}


@record
class VerdictReason:
    text: str
    check: int | None = None
    """The number of the check that it is about, from 1; None if it is about the whole report."""
    about_findings: bool = False
    """Whether it is about what the text tries or hides, which the report lists as findings in the text."""


def verdict_reasons(report: Report) -> list[VerdictReason]:
    """Return what a reader must know first: what failed, what is open, what is unstable or hidden."""
    numbered = list(enumerate(report.check_results, start=1))
    by_severity = sorted(numbered, key=lambda item: item[1].severity is not Severity.HIGH)
    failed = [
        VerdictReason(_failed(check, report), number) for number, check in by_severity if check.result is Result.FAIL
    ]
    undecided = [
        VerdictReason(_undecided(check), number)
        for number, check in by_severity
        if check.result is Result.INDETERMINATE and check.decided_by != "derived"
    ]
    injections = labels.injections(report)
    notices = [VerdictReason(notice, about_findings=notice == injections) for notice in labels.notices(report)]
    unstable, missing = (map(VerdictReason, texts) for texts in (_instability(report), _missing_votes(report)))
    reasons = [*failed, *unstable, *notices, *missing, *undecided]
    return reasons or [VerdictReason("No check failed, and none that was judged is undecided.")]


def check_title(check_id: str) -> str:
    """Return the id in words: "Certainty language"."""
    words = check_id.replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else check_id


def next_steps(report: Report) -> list[str]:
    """Return the recommended next steps, with the names of checks in words."""
    unclear = [check.check_id for check in report.check_results if advice.is_unclear(check)]
    with_ids = advice.undecided_step(unclear)
    in_words = advice.undecided_step([check_title(check_id).lower() for check_id in unclear])
    return [in_words if step == with_ids else step for step in report.summary.recommended_next_steps]


def _failed(check: CheckResult, report: Report) -> str:
    reason = _FAILED.get(check.check_id, f"Failed: {check.question}")
    if check.check_id == DRIFT and (cause := _PUT_DOWN_TO.get(report.drift_summary.kind)):
        reason = f"{_DEGRADED.format(baseline=advice.baseline_name(report.drift_summary))}: {cause}"
    return f"{reason}{_passages(check)} ({check.severity} severity)"


def _passages(check: CheckResult) -> str:
    number = sum(citation.occurrences for citation in check.evidence_citations)
    return f": {pluralize(number, 'passage')}" if number else ""


def _undecided(check: CheckResult) -> str:
    reason = _UNDECIDED.get(check.check_id, f"Not decided: {check.question}")
    return f"{reason} ({check.severity} severity)"


def _instability(report: Report) -> list[str]:
    """Return that the evaluator disagreed with itself. The rules always agree with themselves."""
    consistency = measured_consistency(report)
    summary = report.variance_summary
    if consistency is None or not labels.shows_consistency(report) or consistency >= summary.threshold_ok:
        return []
    disagreeing = [check_title(check_id).lower() for check_id in summary.divergent_findings]
    about = f" Its runs disagree on: {', '.join(disagreeing)}." if disagreeing else ""
    reliable = " The results are not reliable for decisions." if consistency < summary.threshold_warn else ""
    return [f"The evaluator is not stable: its consistency is {consistency:.2f}.{reliable}{about}"]


def _missing_votes(report: Report) -> list[str]:
    if not report.incomplete:
        return []
    missing = sum(check.incomplete for check in report.check_results)
    return [f"Votes are missing for {pluralize(missing, 'check')}.", *labels.missing_vote_problems(report)]
