"""Derive one status from the check results, with the rules that applied. Pure; every combination has a rule."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.playbooks.enums import Mode, Result, Severity, Status
from salvo.playbooks.playbook.definition import Variance
from salvo.records import record


@record
class StatusOutcome:
    """What the status depends on, for one check."""

    check_id: str
    severity: Severity
    result: Result
    neutral: bool = False
    """Indeterminate only because there is no baseline, which says nothing about the text."""


def overall(
    outcomes: Sequence[StatusOutcome],
    consistency: float | None,
    thresholds: Variance,
    mode: Mode,
    *,
    deterministic: bool = False,
) -> tuple[Status, tuple[str, ...]]:
    """Return the most severe status that any rule gives, and a sentence for each rule that gives it.

    A deterministic evaluator always agrees with itself, so its consistency is not a reason.
    """
    counted = [outcome for outcome in outcomes if not outcome.neutral]
    for status, reasons in (
        (Status.ALERT, [f"{name} (high severity) failed." for name in _check_ids(counted, Severity.HIGH, Result.FAIL)]),
        (Status.REVIEW, _review(counted, consistency, thresholds)),
        (Status.OBSERVE, _observe(counted, consistency, thresholds, mode)),
    ):
        if reasons:
            return status, tuple(reasons)
    neutral = ", ".join(outcome.check_id for outcome in outcomes if outcome.neutral)
    sentences = [
        f"No check failed. Only {neutral} is indeterminate: it was not compared with a baseline."
        if neutral
        else "No check failed, and none is indeterminate."
    ]
    if consistency is not None and not deterministic:
        sentences.append(f"The consistency is {consistency:.2f}.")
    return Status.STABLE, (" ".join(sentences),)


def _review(outcomes: Sequence[StatusOutcome], consistency: float | None, thresholds: Variance) -> list[str]:
    reasons = [
        f"{check_id} (high severity) is indeterminate."
        for check_id in _check_ids(outcomes, Severity.HIGH, Result.INDETERMINATE)
    ]
    failed = _check_ids(outcomes, Severity.MEDIUM, Result.FAIL)
    if len(failed) >= 2:
        reasons.append(f"{len(failed)} medium-severity checks failed: {', '.join(failed)}.")
    if consistency is not None and consistency < thresholds.warn:
        reasons.append(
            f"The consistency is {consistency:.2f}, below {thresholds.warn:g}: "
            "the results are not reliable for decisions."
        )
    return reasons


def _observe(
    outcomes: Sequence[StatusOutcome], consistency: float | None, thresholds: Variance, mode: Mode
) -> list[str]:
    reasons = [
        f"{check_id} (medium severity) {outcome}."
        for result, outcome in ((Result.FAIL, "failed"), (Result.INDETERMINATE, "is indeterminate"))
        for check_id in _check_ids(outcomes, Severity.MEDIUM, result)
    ]
    if consistency is not None and consistency < thresholds.ok:
        reasons.append(f"The consistency is {consistency:.2f}, below {thresholds.ok:g}.")
    if mode is Mode.SCREENING:
        reasons.append("A screening judges each check once and is not comparable over time.")
    return reasons


def _check_ids(outcomes: Sequence[StatusOutcome], severity: Severity, result: Result) -> list[str]:
    return [outcome.check_id for outcome in outcomes if outcome.severity is severity and outcome.result is result]
