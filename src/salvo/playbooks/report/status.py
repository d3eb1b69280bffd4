"""From check results to one status, with the rules that fired. Pure: no combination of results is without a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salvo.playbooks.enums import Mode, Result, Severity, Status
from salvo.playbooks.playbook.schema import Variance


@dataclass(frozen=True, slots=True)
class StatusOutcome:
    """What the status needs to know of a check."""

    check_id: str
    severity: Severity
    result: Result
    neutral: bool = False
    """Indeterminate only for want of a baseline: that says nothing about the text."""


def overall(
    outcomes: Sequence[StatusOutcome], consistency: float | None, thresholds: Variance, mode: Mode
) -> tuple[Status, tuple[str, ...]]:
    """The gravest status that any rule gives, and a sentence for each rule that gives it."""
    counted = [outcome for outcome in outcomes if not outcome.neutral]
    for status, reasons in (
        (Status.ALERT, _alert(counted)),
        (Status.REVIEW, _review(counted, consistency, thresholds)),
        (Status.OBSERVE, _observe(counted, consistency, thresholds, mode)),
    ):
        if reasons:
            return status, tuple(reasons)
    return Status.STABLE, (f"No check failed or is indeterminate, and the consistency is {_shown(consistency)}.",)


def _alert(outcomes: Sequence[StatusOutcome]) -> list[str]:
    return [f"{name} (high severity) failed." for name in _named(outcomes, Severity.HIGH, Result.FAIL)]


def _review(outcomes: Sequence[StatusOutcome], consistency: float | None, thresholds: Variance) -> list[str]:
    reasons = [
        f"{name} (high severity) is indeterminate." for name in _named(outcomes, Severity.HIGH, Result.INDETERMINATE)
    ]
    failed = _named(outcomes, Severity.MEDIUM, Result.FAIL)
    if len(failed) >= 2:
        reasons.append(f"{len(failed)} checks of medium severity failed: {', '.join(failed)}.")
    if consistency is not None and consistency < thresholds.warn:
        reasons.append(
            f"The consistency is {_shown(consistency)}, below {thresholds.warn:g}: "
            "the verdicts are not reliable for decisions."
        )
    return reasons


def _observe(
    outcomes: Sequence[StatusOutcome], consistency: float | None, thresholds: Variance, mode: Mode
) -> list[str]:
    reasons = [f"{name} (medium severity) failed." for name in _named(outcomes, Severity.MEDIUM, Result.FAIL)]
    reasons += [
        f"{name} (medium severity) is indeterminate."
        for name in _named(outcomes, Severity.MEDIUM, Result.INDETERMINATE)
    ]
    if consistency is not None and consistency < thresholds.ok:
        reasons.append(f"The consistency is {_shown(consistency)}, below {thresholds.ok:g}.")
    if mode is Mode.SCREENING:
        reasons.append("A screening judges each check once and is not comparable over time.")
    return reasons


def _named(outcomes: Sequence[StatusOutcome], severity: Severity, result: Result) -> list[str]:
    return [outcome.check_id for outcome in outcomes if outcome.severity is severity and outcome.result is result]


def _shown(consistency: float | None) -> str:
    return "not known" if consistency is None else f"{consistency:.2f}"
