"""Compare a report with its baseline: what got worse, and whether the evaluator or the text changed. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.playbook.definition import Variance
from salvo.playbooks.report.report import ChangedCheck, CheckResult, DriftKind, DriftSummary, Fingerprints

DEGRADATION = 0.15
"""A consistency that falls by this much has degraded."""

_BADNESS = {Result.PASS: 0, Result.INDETERMINATE: 1, Result.FAIL: 2}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The parts of a report that can be compared over time."""

    report_id: str
    timestamp: str
    inputs_fingerprint: str
    checks: tuple[CheckResult, ...]
    consistency: float | None
    fingerprints: Fingerprints


@dataclass(frozen=True, slots=True)
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
    changed = changes(before.checks, now.checks)
    delta = consistency_delta(before.consistency, now.consistency)
    same_text = now.inputs_fingerprint == before.inputs_fingerprint
    same_judge = identity(now.fingerprints) == identity(before.fingerprints)
    degraded = _degraded(changed, now.consistency, before.consistency, delta, thresholds)
    result, kind, reason = _attribute(degraded, same_text=same_text, same_judge=same_judge)
    unjudged = [check.check_id for check in now.checks if check.incomplete]
    if unjudged and result is Result.PASS:
        result, kind = Result.INDETERMINATE, "undetermined"
        reason = f"no material degradation in the judged checks, but {', '.join(unjudged)} could not be judged."
    summary = DriftSummary(
        kind=kind,
        baseline_id=before.report_id,
        baseline_timestamp=before.timestamp,
        baseline_saved=saved,
        consistency_before=before.consistency,
        consistency_delta=delta,
        changed_checks=changed,
        same_text=same_text,
        same_judge=same_judge,
        notes=tuple(_backend_notes(now.fingerprints, before.fingerprints)),
    )
    baseline = "the saved baseline" if saved else "the newest earlier report"
    return Drift(result, f"Compared with {baseline} of {before.timestamp}: {reason}", summary)


def changes(before: tuple[CheckResult, ...], now: tuple[CheckResult, ...]) -> tuple[ChangedCheck, ...]:
    """Return the checks with a different result. A check that could not be judged, then or now, has not changed."""
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
        if check.decided_by != "derived"
        and (previous := earlier.get(check.check_id)) is not None
        and previous.result is not check.result
        and not (previous.incomplete or check.incomplete)
    )


def consistency_delta(before: float | None, now: float | None) -> float | None:
    return None if now is None or before is None else round(now - before, 9)


def identity(fingerprints: Fingerprints) -> tuple[object, ...]:
    """Return what identifies the evaluator: provider, model, returned model and prompt."""
    judge = fingerprints.evaluator
    return judge.provider, judge.declared_model_name, judge.declared_model_version, judge.system_prompt_id


def _degraded(
    changed: tuple[ChangedCheck, ...],
    now: float | None,
    before: float | None,
    delta: float | None,
    thresholds: Variance,
) -> list[str]:
    """Return a sentence for each sign of material degradation."""
    worse = [check for check in changed if check.worse]
    signs = [
        f"{check.check_id} (high severity) went from {check.before} to {check.now}."
        for check in worse
        if check.severity is Severity.HIGH
    ]
    medium = [check.check_id for check in worse if check.severity is Severity.MEDIUM]
    if len(medium) >= 2:
        signs.append(f"{len(medium)} medium-severity checks got worse: {', '.join(medium)}.")
    if delta is not None and delta <= -DEGRADATION:
        signs.append(f"The consistency fell by {-delta:.2f}, from {before:.2f} to {now:.2f}.")
    elif now is not None and before is not None and now < thresholds.warn <= before:
        signs.append(f"The consistency fell below {thresholds.warn:g}, from {before:.2f} to {now:.2f}.")
    return signs


def _attribute(degraded: list[str], *, same_text: bool, same_judge: bool) -> tuple[Result, DriftKind, str]:
    if not same_text and not same_judge:
        return (
            Result.INDETERMINATE,
            "undetermined",
            "the text and the evaluator both changed, so the cause of any difference cannot be determined.",
        )
    if not degraded:
        return Result.PASS, "none", "no material degradation."
    if same_text and same_judge:
        kind: DriftKind = "evaluator_instability"
        cause = "The text and the evaluator are the same, so this is evaluator instability."
    elif same_text:
        kind, cause = "judge", "The text is the same and the evaluator is different, so this is judge drift."
    else:
        kind, cause = "output", "The evaluator is the same and the text is different, so this is output drift."
    return Result.FAIL, kind, f"{' '.join(degraded)} {cause}"


def _backend_notes(now: Fingerprints, before: Fingerprints) -> list[str]:
    """Return a note if the system fingerprint changed: the evaluator has the same name, but may be different."""
    earlier, current = (
        fingerprints.evaluator.other_runtime_metadata.get("system_fingerprints") for fingerprints in (before, now)
    )
    if earlier and current and earlier != current:
        return ["The provider's system fingerprint changed: the model behind the same name may be different."]
    return []
