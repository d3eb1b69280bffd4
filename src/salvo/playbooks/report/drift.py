"""A report against its baseline: what got worse, and whether the judge or the output changed with it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from salvo.playbooks.enums import Result, Severity
from salvo.playbooks.playbook.schema import Variance
from salvo.playbooks.report.report import ChangedCheck, CheckResult, DriftKind, DriftSummary, Fingerprints

FALL = 0.15
"""A consistency that falls by this much has degraded."""

_WORSE = {Result.PASS: 0, Result.INDETERMINATE: 1, Result.FAIL: 2}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What of a report can be compared over time."""

    report_id: str
    timestamp: str
    inputs_fingerprint: str
    checks: tuple[CheckResult, ...]
    consistency: float | None
    fingerprints: Fingerprints


@dataclass(frozen=True, slots=True)
class Drift:
    """The derived check, and what it rests on. `neutral`: there was nothing to compare with."""

    result: Result
    notes: str
    summary: DriftSummary
    neutral: bool = False


def not_compared(why: str, *, neutral: bool = True) -> Drift:
    summary = DriftSummary("not_compared", None, None, None, None, None, (), None, None, (why,))
    return Drift(Result.INDETERMINATE, why, summary, neutral)


def compare(now: Snapshot, before: Snapshot, *, saved: bool, thresholds: Variance) -> Drift:
    """`saved`: somebody made `before` a baseline; else it is simply the newest earlier report."""
    changed = changes(before.checks, now.checks)
    delta = (
        None
        if now.consistency is None or before.consistency is None
        else round(now.consistency - before.consistency, 9)
    )
    same_text = now.inputs_fingerprint == before.inputs_fingerprint
    same_judge = identity(now.fingerprints) == identity(before.fingerprints)
    degraded = _degraded(changed, now.consistency, before.consistency, delta, thresholds)
    result, kind, told = _attributed(degraded, same_text=same_text, same_judge=same_judge)
    unjudged = [check.check_id for check in now.checks if check.incomplete]
    if unjudged and result is Result.PASS:
        result, kind = Result.INDETERMINATE, "undetermined"
        told = f"Nothing got worse among the checks that could be judged, but {', '.join(unjudged)} could not be."
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
        notes=tuple(_backend(now.fingerprints, before.fingerprints)),
    )
    what = "the saved baseline" if saved else "the newest earlier report"
    return Drift(result, f"Compared with {what} of {before.timestamp}: {told}", summary)


def changes(before: tuple[CheckResult, ...], now: tuple[CheckResult, ...]) -> tuple[ChangedCheck, ...]:
    """The checks that came out otherwise. What could not be judged, then or now, is no change of anything."""
    earlier = {check.check_id: check for check in before}
    return tuple(
        ChangedCheck(
            check.check_id, check.severity, was.result, check.result, _WORSE[check.result] > _WORSE[was.result]
        )
        for check in now
        if check.decided_by != "derived"
        and (was := earlier.get(check.check_id)) is not None
        and was.result is not check.result
        and not (was.incomplete or check.incomplete)
    )


def identity(fingerprints: Fingerprints) -> tuple[object, ...]:
    """Who judged: evaluator, returned model and prompt."""
    judge = fingerprints.evaluator
    return judge.provider, judge.declared_model_name, judge.declared_model_version, judge.system_prompt_id


def _degraded(
    changed: tuple[ChangedCheck, ...],
    now: float | None,
    before: float | None,
    delta: float | None,
    thresholds: Variance,
) -> list[str]:
    """A sentence for each sign of degradation; none where nothing got materially worse."""
    worse = [check for check in changed if check.worse]
    signs = [
        f"{check.check_id} (high severity) went from {check.before} to {check.now}."
        for check in worse
        if check.severity is Severity.HIGH
    ]
    medium = [check.check_id for check in worse if check.severity is Severity.MEDIUM]
    if len(medium) >= 2:
        signs.append(f"{len(medium)} checks of medium severity got worse: {', '.join(medium)}.")
    if delta is not None and delta <= -FALL:
        signs.append(f"The consistency fell by {-delta:.2f}, from {before:.2f} to {now:.2f}.")
    elif now is not None and before is not None and now < thresholds.warn <= before:
        signs.append(f"The consistency fell below {thresholds.warn:g}, from {before:.2f} to {now:.2f}.")
    return signs


def _attributed(degraded: list[str], *, same_text: bool, same_judge: bool) -> tuple[Result, DriftKind, str]:
    if not same_text and not same_judge:
        return (
            Result.INDETERMINATE,
            "undetermined",
            "both the text and the judge changed, so what changed the findings cannot be told apart.",
        )
    if not degraded:
        return Result.PASS, "none", "no material degradation."
    if same_text and same_judge:
        kind: DriftKind = "evaluator_instability"
        why = "the text and the judge are the same, so this is instability of the evaluator."
    elif same_text:
        kind, why = "judge", "the text is the same and the judge is another, so this is drift of the judge."
    else:
        kind, why = "output", "the judge is the same and the text is another, so this is drift of the output."
    return Result.FAIL, kind, f"{' '.join(degraded)} It degraded: {why}"


def _backend(now: Fingerprints, before: Fingerprints) -> list[str]:
    """A changed system fingerprint is not another judge by name, but worth knowing."""
    then, today = (
        fingerprints.evaluator.other_runtime_metadata.get("system_fingerprints") for fingerprints in (before, now)
    )
    if then and today and then != today:
        return ["The provider's system fingerprint changed: the model behind the same name may be another."]
    return []
