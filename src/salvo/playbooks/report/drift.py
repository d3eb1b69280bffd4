"""Compare a report with its baseline: what got worse, and whether the evaluator or the text changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.evaluate.request import UNKNOWN
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report.identity_labels import date_with_zone
from salvo.playbooks.report.report import (
    ChangedCheck,
    CheckResult,
    DriftKind,
    DriftSummary,
    Fingerprints,
    ModelFingerprint,
    is_deterministic,
)
from salvo.records import record

DEGRADATION = 0.15
"""A consistency that falls by this much has degraded."""

_BADNESS = {Result.PASS: 0, Result.INDETERMINATE: 1, Result.FAIL: 2}


@record
class Snapshot:
    """The parts of a report that can be compared over time."""

    report_id: str
    timestamp: str
    inputs_fingerprint: str
    checks: tuple[CheckResult, ...]
    consistency: float | None
    """None if it was not measured, or is that of an evaluator that always agrees with itself."""
    fingerprints: Fingerprints


@record
class Drift:
    """The result of the drift check and its summary. `neutral`: there was no baseline."""

    result: Result
    notes: str
    summary: DriftSummary
    neutral: bool = False


def not_compared(reason: str) -> Drift:
    summary = DriftSummary("not_compared", None, None, None, None, None, (), None, None, (reason,))
    return Drift(Result.INDETERMINATE, reason, summary, neutral=True)


def compare(now: Snapshot, before: Snapshot, *, saved: bool, thresholds: Variance) -> Drift:
    """Compare two reports. `saved`: `before` was saved as a baseline; otherwise it is the newest earlier report."""
    if any(check.incomplete for check in (*now.checks, *before.checks)):
        return not_compared("Votes are missing, and incomplete reports are not compared.")
    changed = changes(before.checks, now.checks)
    delta = consistency_delta(before.consistency, now.consistency)
    same_text = now.inputs_fingerprint == before.inputs_fingerprint
    is_same_judge = same_judge(before.fingerprints, now.fingerprints)
    unanimous = unanimous_ids(before.checks) & unanimous_ids(now.checks)
    degradation = _Degradation(
        outcomes=_worse_outcomes(changed),
        unanimous_outcomes=_worse_outcomes([check for check in changed if check.check_id in unanimous]),
        consistency=_fallen_consistency(now.consistency, before.consistency, delta, thresholds),
    )
    result, kind, reason = _attribute(
        degradation,
        same_text=same_text,
        same_judge=is_same_judge,
        deterministic=is_deterministic(now.fingerprints),
    )
    summary = DriftSummary(
        kind=kind,
        baseline_id=before.report_id,
        baseline_timestamp=before.timestamp,
        baseline_saved=saved,
        consistency_before=before.consistency,
        consistency_delta=delta,
        changed_checks=changed,
        same_text=same_text,
        same_judge=is_same_judge,
        notes=tuple(_backend_notes(now.fingerprints, before.fingerprints)),
    )
    baseline = "the saved baseline" if saved else "the newest earlier report"
    return Drift(result, f"Compared with {baseline} of {date_with_zone(before.timestamp)}: {reason}", summary)


def changes(before: tuple[CheckResult, ...], now: tuple[CheckResult, ...]) -> tuple[ChangedCheck, ...]:
    """Return the checks with a different result, among those that can be compared."""
    earlier = {check.check_id: check for check in before}
    return tuple(
        ChangedCheck(
            check.check_id,
            check.severity,
            previous.result,
            check.result,
            worse=_BADNESS[check.result] > _BADNESS[previous.result],
        )
        for check in now
        if (previous := earlier.get(check.check_id)) is not None
        and previous.result is not check.result
        and why_not_comparable(previous, check) is None
    )


def why_not_comparable(before: CheckResult, now: CheckResult) -> str | None:
    """Return why the results of a check in two reports are not compared; None if they are."""
    if "derived" in (before.decided_by, now.decided_by):
        return "derived from the other results"
    if before.incomplete or now.incomplete:
        return "votes are missing"
    if before.abstained or now.abstained:
        return "the evaluator abstained"
    return None


def consistency_delta(before: float | None, now: float | None) -> float | None:
    return None if now is None or before is None else round(now - before, 9)


def same_judge(before: Fingerprints, now: Fingerprints) -> bool:
    """Return whether provider, model, prompt and returned model are the same.

    The returned model is not known if no call was answered. Then the others decide.
    """
    earlier, later = before.evaluator, now.evaluator
    versions = {earlier.declared_model_version, later.declared_model_version}
    return _declared_judge(earlier) == _declared_judge(later) and (len(versions) == 1 or UNKNOWN in versions)


def _declared_judge(judge: ModelFingerprint) -> tuple[object, ...]:
    return judge.provider, judge.declared_model_name, judge.system_prompt_id


@record
class _Degradation:
    """A sentence for each sign of material degradation."""

    outcomes: list[str]
    """Checks with a worse result."""
    unanimous_outcomes: list[str]
    """The same, among the checks whose votes were unanimous in both reports."""
    consistency: str
    """Empty if the consistency did not fall."""


def unanimous_ids(checks: Iterable[CheckResult]) -> set[str]:
    """Return the checks on which every run voted for the result. Patterns give the same result every time."""
    return {
        check.check_id
        for check in checks
        if check.decided_by == "patterns"
        or (check.raw_runs and all(run.counts and run.result is check.result for run in check.raw_runs))
    }


def _worse_outcomes(changed: Iterable[ChangedCheck]) -> list[str]:
    worse = [check for check in changed if check.worse]
    signs = [
        f"{check.check_id} (high severity) went from {check.before} to {check.now}."
        for check in worse
        if check.severity is Severity.HIGH
    ]
    medium = [check.check_id for check in worse if check.severity is Severity.MEDIUM]
    if len(medium) >= 2:
        signs.append(f"{len(medium)} medium-severity checks got worse: {', '.join(medium)}.")
    return signs


def _fallen_consistency(now: float | None, before: float | None, delta: float | None, thresholds: Variance) -> str:
    if now is None or before is None or delta is None:
        return ""
    if delta <= -DEGRADATION:
        return f"The consistency fell by {-delta:.2f}, from {before:.2f} to {now:.2f}."
    if now < thresholds.warn <= before:
        return f"The consistency fell below {thresholds.warn:g}, from {before:.2f} to {now:.2f}."
    return ""


def _attribute(
    degradation: _Degradation, *, same_text: bool, same_judge: bool, deterministic: bool
) -> tuple[Result, DriftKind, str]:
    """Attribute what got worse. A fall of consistency is always the evaluator's, whatever the text."""
    worse, fallen = degradation.outcomes, degradation.consistency
    if not same_text and not same_judge:
        reason = "the text and the evaluator both changed, so the cause of any difference cannot be determined."
        return Result.INDETERMINATE, "undetermined", reason
    if not worse and not fallen:
        return Result.PASS, "none", "no material degradation."
    kind: DriftKind
    if same_text and same_judge:
        kind, cause = (
            "evaluator_instability",
            "The text and the evaluator are the same, so this is evaluator instability.",
        )
    elif same_text:
        kind, cause = "judge", "The text is the same and the evaluator is different, so this is judge drift."
    elif degradation.unanimous_outcomes:
        kind, worse = "output", degradation.unanimous_outcomes
        constant = "The evaluator does not vary" if deterministic else "The votes were unanimous both times"
        cause = f"{constant} and only the text is different, so this is output drift."
    elif worse:
        kind = "output_or_evaluator"
        cause = "The text is different, but not all votes agreed: this is the output or the evaluator's variation."
    else:
        kind, cause = "evaluator_instability", ""
    if same_text:
        return Result.FAIL, kind, " ".join(filter(None, (*worse, fallen, cause)))
    evaluator = "That fall is put down to the evaluator, not to the text." if fallen else ""
    return Result.FAIL, kind, " ".join(filter(None, (*worse, cause, fallen, evaluator)))


def _backend_notes(now: Fingerprints, before: Fingerprints) -> list[str]:
    """Return a note if the system fingerprint changed: the evaluator has the same name, but may be different."""
    earlier, current = (
        fingerprints.evaluator.other_runtime_metadata.get("system_fingerprints") for fingerprints in (before, now)
    )
    if earlier and current and earlier != current:
        return ["The provider's system fingerprint changed: the model behind the same name may be different."]
    return []
