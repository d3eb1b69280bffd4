"""Compare two reports: what changed, and whether the text or the evaluator changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.report.drift import changes, consistency_delta, same_judge, unanimous_ids, why_not_comparable
from salvo.playbooks.report.report import ChangedCheck, CheckResult, Report, is_deterministic, measured_consistency
from salvo.records import record


@record
class Side:
    report_id: str
    timestamp: str
    subject: str
    evaluator: str
    execution_mode: Mode
    overall_status: Status
    consistency_score: float | None
    """None if it was not measured."""
    incomplete: bool


@record
class EvidenceChange:
    """Quotes that are evidence in only one of the two reports, for a check that was compared."""

    check_id: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@record
class UncomparedCheck:
    check_id: str
    reason: str


@record
class ChangeCause:
    """Why the changed result of a check is put down to the text, or is not."""

    check_id: str
    from_text: bool | None
    """None if it cannot be determined."""
    reason: str


@record
class ReportComparison:
    before: Side
    after: Side
    same_playbook: bool
    same_text: bool
    same_judge: bool
    attribution: str
    """What a difference is attributed to."""
    changed_checks: tuple[ChangedCheck, ...]
    causes: tuple[ChangeCause, ...]
    """One for each changed check, in the same order."""
    unchanged: tuple[str, ...]
    """Checks that were compared and have the same result."""
    not_compared: tuple[UncomparedCheck, ...]
    """Checks of both reports that were not compared: derived ones, and those that were not judged."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    """Checks that the other report does not have."""
    consistency_delta: float | None
    evidence: tuple[EvidenceChange, ...]
    cautions: tuple[str, ...]
    """Reasons why the two are not fully comparable."""

    @property
    def not_compared_by_reason(self) -> list[tuple[list[str], str]]:
        """Return the checks that were not compared, by reason."""
        reasons = dict.fromkeys(check.reason for check in self.not_compared)
        return [
            ([check.check_id for check in self.not_compared if check.reason == reason], reason) for reason in reasons
        ]


def compare(before: Report, after: Report) -> ReportComparison:
    checks_before = {check.check_id: check for check in before.check_results}
    checks_after = {check.check_id: check for check in after.check_results}
    same_text = before.integrity.has_same_inputs(after.integrity)
    is_same_judge = same_judge(before.model_fingerprints, after.model_fingerprints)
    in_both = [
        (checks_before[check.check_id], check) for check in after.check_results if check.check_id in checks_before
    ]
    changed = changes(before.check_results, after.check_results)
    return ReportComparison(
        before=_side(before),
        after=_side(after),
        same_playbook=before.integrity.playbook_logic_hash == after.integrity.playbook_logic_hash,
        same_text=same_text,
        same_judge=is_same_judge,
        attribution=_attribution(
            same_text=same_text, same_judge=is_same_judge, deterministic=is_deterministic(after.model_fingerprints)
        ),
        changed_checks=changed,
        causes=tuple(_cause(check.check_id, before, after, same_text, is_same_judge) for check in changed),
        unchanged=tuple(
            check.check_id
            for earlier, check in in_both
            if check.result is earlier.result and why_not_comparable(earlier, check) is None
        ),
        not_compared=tuple(
            UncomparedCheck(check.check_id, reason)
            for earlier, check in in_both
            if (reason := why_not_comparable(earlier, check)) is not None
        ),
        only_before=tuple(check_id for check_id in checks_before if check_id not in checks_after),
        only_after=tuple(check_id for check_id in checks_after if check_id not in checks_before),
        consistency_delta=consistency_delta(measured_consistency(before), measured_consistency(after)),
        evidence=tuple(
            _evidence_change(earlier, check) for earlier, check in in_both if why_not_comparable(earlier, check) is None
        ),
        cautions=tuple(_cautions(before, after)),
    )


def _side(report: Report) -> Side:
    return Side(
        report.report_id,
        report.timestamp,
        report.subject,
        report.evaluator,
        report.execution_mode,
        report.summary.overall_status,
        measured_consistency(report),
        report.incomplete,
    )


def _attribution(*, same_text: bool, same_judge: bool, deterministic: bool) -> str:
    if same_text and same_judge:
        return "The text and the evaluator are the same, so a difference is evaluator instability."
    if same_text:
        return "The text is the same and the evaluator is different, so a difference is attributed to the evaluator."
    if same_judge and deterministic:
        return "The evaluator is the same and does not vary, so a difference comes from the text, which is different."
    if same_judge:
        return (
            "The evaluator is the same and the text is different, so a difference comes from the text or from the "
            "evaluator's variation."
        )
    return "The text and the evaluator are both different, so the cause of a difference cannot be determined."


def _cause(check_id: str, before: Report, after: Report, same_text: bool, same_judge: bool) -> ChangeCause:
    sides = [check for report in (before, after) for check in report.check_results if check.check_id == check_id]
    by_patterns = all(check.decided_by == "patterns" for check in sides)
    split = [
        name for name, report in (("A", before), ("B", after)) if check_id not in unanimous_ids(report.check_results)
    ]
    from_text: bool | None = None
    if before.integrity.playbook_logic_hash != after.integrity.playbook_logic_hash:
        reason = "The cause cannot be determined: the playbook is different, too, and the check may be another one."
    elif by_patterns:
        # The same patterns find the same in the same text.
        from_text = not same_text
        reason = "Put down to the text: the playbook's patterns decided it both times, and only the text is different."
        if same_text:
            reason = "Not put down to the text, which is the same. The playbook's patterns decided it both times."
    elif same_text:
        from_text = False
        by = "the same evaluator judged it differently" if same_judge else "the evaluator is different"
        reason = f"Not put down to the text, which is the same: {by}."
    elif not same_judge:
        reason = "The cause cannot be determined: the text and the evaluator are both different."
    elif is_deterministic(after.model_fingerprints):
        from_text = True
        reason = "Put down to the text: the evaluator is the same and does not vary."
    elif not split:
        from_text = True
        reason = "Put down to the text: the evaluator is the same, and the votes were unanimous both times."
    else:
        reason = (
            "Put down to the text or to the evaluator's variation: the evaluator is the same, but the votes in "
            f"{' and '.join(split)} were not unanimous."
        )
    return ChangeCause(check_id, from_text, reason)


def _evidence_change(before: CheckResult, after: CheckResult) -> EvidenceChange:
    spans_before, spans_after = (
        dict.fromkeys(citation.span for citation in check.evidence_citations) for check in (before, after)
    )
    return EvidenceChange(
        after.check_id,
        gained=tuple(span for span in spans_after if span not in spans_before),
        lost=tuple(span for span in spans_before if span not in spans_after),
    )


def _cautions(before: Report, after: Report) -> Iterable[str]:
    if before.integrity.playbook_logic_hash != after.integrity.playbook_logic_hash:
        yield "The two reports were made with different playbooks or different versions of a playbook."
    for report in (before, after):
        if report.execution_mode is Mode.SCREENING:
            yield f"{report.report_id} is a screening, which is not comparable over time."
        if report.incomplete:
            yield f"{report.report_id} is incomplete: checks without enough votes are not compared."
    if before.subject != after.subject:
        yield f"The subjects differ: “{before.subject}” and “{after.subject}”."


@record
class Agreement:
    """Whether several evaluators of the same text agree on a check."""

    check_id: str
    results: dict[str, Result]
    agree: bool | None
    """None if one of them did not judge the check."""


def agreement(reports: Sequence[Report], names: Sequence[str] = ()) -> tuple[Agreement, ...]:
    """Return a row for each check that an evaluator judged. `names` are those of the evaluators, if some are equal."""
    names = names or [report.evaluator for report in reports]
    return tuple(_agreement(check_id, names, checks) for check_id, checks in judged_checks(reports).items())


def _agreement(check_id: str, names: Sequence[str], checks: Sequence[CheckResult | None]) -> Agreement:
    results = {name: check.result for name, check in zip(names, checks, strict=True) if check}
    unjudged = any(check.incomplete or check.abstained for check in checks if check)
    return Agreement(check_id, results, None if unjudged else len(set(results.values())) == 1)


def judged_checks(reports: Sequence[Report]) -> dict[str, list[CheckResult | None]]:
    """Return the checks that evaluators judged, with one entry per report."""
    results = [
        {check.check_id: check for check in report.check_results if check.decided_by == "evaluator"}
        for report in reports
    ]
    ids = dict.fromkeys(check_id for checks in results for check_id in checks)
    return {check_id: [checks.get(check_id) for checks in results] for check_id in ids}
