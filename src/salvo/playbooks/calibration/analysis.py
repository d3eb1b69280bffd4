"""Per playbook, check and evaluator: agreement with reviewers, and the corrected pass rate. Pure.

Reports are put in an order that depends only on a hash of their ids, which nobody chooses. Reviewing them in this order
makes the reviewed ones a random sample of those with the same verdict, so that the pass rate can be corrected by them.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

from salvo.engine.stats.calibration import Stratum, allocate, calibrated_rate
from salvo.engine.stats.judge_agreement import (
    AgreementDrop,
    JudgedCell,
    JudgeQuality,
    ReviewerAgreement,
    agreement_drops,
    judge_quality,
    reviewer_agreement,
)
from salvo.engine.stats.rates import Interval
from salvo.playbooks.calibration.judged_check import JudgedCheck
from salvo.playbooks.enums import Result
from salvo.playbooks.review.labels import ReviewLabel

NEXT_REPORTS = 10
"""How many reports to review next are named."""
_KINDS = ("passed", "failed", "split")


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """The reports with one kind of verdict; "split" has those whose votes were not unanimous."""

    verdict: str
    reports: int
    drawn: int
    """Those that were reviewed in the random order, without a gap: a random sample."""
    passed: int
    failed: int
    unclear: int
    """Those whose reviewers could not tell, or disagree."""


@dataclass(frozen=True, slots=True)
class BlindPair:
    """Two reviewers who decided without seeing the evaluator's result."""

    reviewers: tuple[str, str]
    agreement: ReviewerAgreement


@dataclass(frozen=True, slots=True)
class CheckCalibration:
    """One check of a playbook, as one evaluator judges it."""

    playbook_id: str
    playbook_version: str
    playbook_hash: str
    check_id: str
    evaluator: str
    reports: int
    """The reports in which it was judged to pass or fail."""
    indeterminate: int
    """The reports in which it could not be judged. They are part of no rate."""
    reviewed: int
    """The reports in which a reviewer decided about it."""
    blind: int
    """Those of the reviewed ones in which a reviewer decided without seeing the evaluator's result."""
    judged_pass_rate: float | None
    corrected_rate: float | None
    """None if a kind of verdict has no review that was drawn."""
    corrected_interval: Interval | None
    """With 95 % confidence; None without reports."""
    counts: list[VerdictCounts]
    is_random: bool
    """Whether all reviewed reports were drawn: otherwise the agreement is one of reports that somebody chose."""
    quality: JudgeQuality
    wrongly_passed: list[str]
    """Reports in which the evaluator passed it and reviewers fail it."""
    wrongly_failed: list[str]
    drops: dict[str, AgreementDrop]
    """By verdict, "passed" or "failed": the newest drop in agreement over time."""
    reviewer_pairs: list[BlindPair]
    review_next: list[str]
    """The reports to review next, in the random order."""


def calibrations(
    checks: Iterable[JudgedCheck], labels: Sequence[ReviewLabel], *, only_blind: bool = False
) -> list[CheckCalibration]:
    """Return a row for each playbook, check and evaluator that has a review, the most reviewed first."""
    by_place: defaultdict[tuple[str, str, str], list[ReviewLabel]] = defaultdict(list)
    for label in labels:
        if label.blind or not only_blind:
            by_place[label.playbook_hash, label.check_id, label.evaluator].append(label)
    judged: defaultdict[tuple[str, str, str], list[JudgedCheck]] = defaultdict(list)
    for check in checks:
        place = (check.playbook_hash, check.check_id, check.evaluator)
        if place in by_place:
            judged[place].append(check)
    rows = [_calibration(judged[place], by_place[place]) for place in judged]
    return sorted(rows, key=lambda row: (-row.reviewed, row.playbook_id, row.check_id, row.evaluator))


def _calibration(checks: Sequence[JudgedCheck], labels: Sequence[ReviewLabel]) -> CheckCalibration:
    first = checks[0]
    decided = [check for check in checks if check.result in (Result.PASS, Result.FAIL)]
    answers = _consensus(labels)
    by_kind = {kind: sorted((c for c in decided if _kind(c) == kind), key=_position) for kind in _KINDS}
    counts = [_counts(kind, by_kind[kind], answers) for kind in _KINDS]
    strata = {row.verdict: Stratum(row.reports, row.drawn, row.passed, row.unclear) for row in counts}
    calibrated = calibrated_rate(list(strata.values()))
    reviewed = [check for check in decided if check.report_id in answers]
    results = {check.report_id: check.result is Result.PASS for check in decided}
    in_time = [
        (results[label.report_id], _passed(label.reviewer_result) is results[label.report_id])
        for label in sorted(labels, key=lambda label: label.at)
        if label.report_id in results and _passed(label.reviewer_result) is not None
    ]
    return CheckCalibration(
        playbook_id=first.playbook_id,
        playbook_version=first.playbook_version,
        playbook_hash=first.playbook_hash,
        check_id=first.check_id,
        evaluator=first.evaluator,
        reports=len(decided),
        indeterminate=len(checks) - len(decided),
        reviewed=len(reviewed),
        blind=len({label.report_id for label in labels if label.blind and label.report_id in results}),
        judged_pass_rate=sum(results.values()) / len(results) if results else None,
        corrected_rate=None if calibrated is None else calibrated.rate,
        corrected_interval=None if calibrated is None else calibrated.interval,
        counts=[row for row in counts if row.reports],
        is_random=sum(row.drawn for row in counts) == len(reviewed),
        quality=judge_quality(_cells(decided, answers)),
        wrongly_passed=[c.report_id for c in reviewed if c.result is Result.PASS and answers[c.report_id] is False],
        wrongly_failed=[c.report_id for c in reviewed if c.result is Result.FAIL and answers[c.report_id] is True],
        drops={"passed" if passed else "failed": drop for passed, drop in agreement_drops(in_time).items()},
        reviewer_pairs=_blind_pairs(labels),
        review_next=_review_next(strata, by_kind, answers),
    )


def _consensus(labels: Iterable[ReviewLabel]) -> dict[str, bool | None]:
    """Return by report what most of its reviewers say; None if they cannot tell, or disagree."""
    by_report: defaultdict[str, list[bool | None]] = defaultdict(list)
    for label in labels:
        by_report[label.report_id].append(_passed(label.reviewer_result))
    most = {report_id: Counter(results).most_common(1)[0] for report_id, results in by_report.items()}
    return {name: answer if 2 * count > len(by_report[name]) else None for name, (answer, count) in most.items()}


def _passed(result: Result) -> bool | None:
    return {Result.PASS: True, Result.FAIL: False}.get(result)


def _kind(check: JudgedCheck) -> str:
    if not check.unanimous:
        return "split"
    return "passed" if check.result is Result.PASS else "failed"


def _position(check: JudgedCheck) -> str:
    return hashlib.sha256(f"calibration:{check.report_id}".encode()).hexdigest()


def _counts(kind: str, ordered: Sequence[JudgedCheck], answers: Mapping[str, bool | None]) -> VerdictCounts:
    drawn = [answers[check.report_id] for check in takewhile(lambda check: check.report_id in answers, ordered)]
    return VerdictCounts(kind, len(ordered), len(drawn), drawn.count(True), drawn.count(False), drawn.count(None))


def _cells(decided: Iterable[JudgedCheck], answers: Mapping[str, bool | None]) -> list[JudgedCell]:
    cells: defaultdict[tuple[str, bool], list[bool | None]] = defaultdict(list)
    for check in decided:
        cells[_kind(check), check.result is Result.PASS].append(answers.get(check.report_id))
    rows = []
    for (_, verdict), items in sorted(cells.items()):
        clear = [answer for answer in items if answer is not None]
        rows.append(JudgedCell(verdict, len(items), len(clear), sum(clear)))
    return rows


def _blind_pairs(labels: Iterable[ReviewLabel]) -> list[BlindPair]:
    by_reviewer: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for label in labels:
        passed = _passed(label.reviewer_result)
        if label.blind and passed is not None:
            by_reviewer[label.reviewer][label.report_id] = passed
    pairs = []
    for first, second in combinations(sorted(by_reviewer), 2):
        shared = by_reviewer[first].keys() & by_reviewer[second].keys()
        if shared:
            answers = [(by_reviewer[first][name], by_reviewer[second][name]) for name in sorted(shared)]
            pairs.append(BlindPair((first, second), reviewer_agreement(answers)))
    return pairs


def _review_next(
    strata: Mapping[str, Stratum], by_kind: Mapping[str, Sequence[JudgedCheck]], answers: Mapping[str, bool | None]
) -> list[str]:
    more = allocate(strata, NEXT_REPORTS)
    chosen = [
        check
        for kind, ordered in by_kind.items()
        for check in ordered[strata[kind].labelled : strata[kind].labelled + more[kind]]
        if check.report_id not in answers
    ]
    return [check.report_id for check in sorted(chosen, key=_position)]
