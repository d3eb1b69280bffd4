"""Blind review: which checks a reviewer decides without seeing any result, and what the decisions show. Pure.

A question is one check of one text. The questions of one playbook and evaluator are divided by the evaluator's result;
within each kind they are asked in an order that depends on the hash of the text alone. So those that are decided up to
the first that is not are a random sample of their kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

from salvo.engine.jsonio.canonical import sha256
from salvo.engine.stats.calibration import CalibratedRate, Stratum, allocate, calibrated_rate, labels_for_width
from salvo.engine.stats.judge_agreement import (
    AgreementDrop,
    JudgedCell,
    JudgeQuality,
    ReviewerPair,
    agreement_drops,
    judge_quality,
    reviewer_pairs,
)
from salvo.engine.stats.pass_rates import Interval
from salvo.playbooks.enums import DERIVED, Result
from salvo.playbooks.review.labels import deciding_events
from salvo.playbooks.review.queue import QueuedReport
from salvo.playbooks.store.column_text import as_name
from salvo.records import record


class BlindSeries(NamedTuple):
    """The reports of one evaluator by one playbook."""

    playbook_hash: str
    evaluator: str


class VerdictKind(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SPLIT = "split"
    """The votes of the evaluator differ, or it came to no result."""


_AS_EVALUATED = {VerdictKind.PASSED: 1.0, VerdictKind.FAILED: 0.0, VerdictKind.SPLIT: 0.5}
"""The share that people are expected to pass where nobody has decided clearly."""

SETTLED_WIDTH = 0.2
"""Up to this width of its interval, the share that people would pass counts as known."""


class BlindAnswer(NamedTuple):
    result: Result
    at: str

    @property
    def passed(self) -> bool | None:
        return None if self.result is Result.INDETERMINATE else self.result is Result.PASS


@record
class BlindReviewQuestion:
    report_id: str
    """The newest report of the series about the text."""
    check_id: str
    evaluated_at: str
    position: str
    """Where it stands in the random order."""
    evaluator_result: Result
    kind: VerdictKind
    answers: Mapping[str, BlindAnswer]
    """What reviewers decided blind, by their names."""
    informed: frozenset[str]
    """Who decided it knowing the evaluator's result, and not blind."""

    @property
    def people_pass(self) -> bool | None:
        """What most of the reviewers decided; None if they cannot tell, or disagree."""
        if not self.answers:
            return None
        result, count = Counter(answer.passed for answer in self.answers.values()).most_common(1)[0]
        return result if 2 * count > len(self.answers) else None


@record
class KindCount:
    kind: VerdictKind
    questions: int
    decided: int
    passed: int
    failed: int
    unclear: int
    """Those of which reviewers could not tell, or disagree."""


@record
class CheckAgreement:
    """One check: what the evaluator decided, and what people say who did not know it."""

    check_id: str
    kinds: list[KindCount]
    passed_by_evaluator: int
    corrected: CalibratedRate
    """The share of the questions that people would pass."""
    needed: dict[VerdictKind, int] | None
    """How many more decisions of each kind would settle that share; None if no number does."""
    quality: JudgeQuality
    wrongly_passed: list[str]
    """Reports whose check the evaluator passed and people fail."""
    wrongly_failed: list[str]
    drops: dict[VerdictKind, AgreementDrop]


@record
class BlindResults:
    checks: list[CheckAgreement]
    reviewers: list[ReviewerPair]
    withheld: int
    """Questions that others decided and the one who asks did not: nothing of them is counted."""
    informed: int
    """Questions that are left out, because people decided them knowing the result, and nobody blind."""
    newer: int
    """Questions that are left out, because their text was evaluated after the last blind decision, if there is one."""


def blind_questions(reports: Sequence[QueuedReport], series: BlindSeries) -> list[BlindReviewQuestion]:
    """Return the questions of a series in their random order. Reports are the newest first.

    A decision about the same text and check holds for every evaluator that judged it.
    """
    reports = [report for report in reports if report.playbook_hash == series.playbook_hash]
    answers: dict[tuple[str, str], dict[str, BlindAnswer]] = defaultdict(dict)
    informed: dict[tuple[str, str], set[str]] = defaultdict(set)
    for report in reversed(reports):
        for event in deciding_events(report.events):
            place = (report.inputs_fingerprint, event.check_id or "")
            if event.blind and event.result is not None:
                answers[place][event.actor] = BlindAnswer(event.result, event.at)
            else:
                informed[place].add(event.actor)
    newest: dict[str, QueuedReport] = {}
    for report in reports:
        if report.evaluator == series.evaluator:
            newest.setdefault(report.inputs_fingerprint, report)
    return sorted(
        (
            _question(report, check_id, answers[place], informed[place])
            for report in newest.values()
            for check_id in report.outcomes
            if check_id not in DERIVED
            for place in [(report.inputs_fingerprint, as_name(check_id))]
        ),
        key=lambda question: (question.position, question.check_id),
    )


def _question(
    report: QueuedReport, check_id: str, answers: Mapping[str, BlindAnswer], informed: Iterable[str]
) -> BlindReviewQuestion:
    result = report.outcomes[check_id]
    if result is Result.INDETERMINATE or as_name(check_id) in report.split_checks:
        kind = VerdictKind.SPLIT
    else:
        kind = VerdictKind.PASSED if result is Result.PASS else VerdictKind.FAILED
    return BlindReviewQuestion(
        report_id=report.report_id,
        check_id=check_id,
        evaluated_at=report.created_at,
        position=sha256(f"{report.playbook_hash}\n{report.inputs_fingerprint}".encode()),
        evaluator_result=result,
        kind=kind,
        answers=dict(answers),
        informed=frozenset(informed) - answers.keys(),
    )


def planned_questions(
    questions: Sequence[BlindReviewQuestion], reviewer: str, number: int
) -> list[BlindReviewQuestion]:
    """Return what a reviewer is asked next, so that they decide `number` questions in all.

    What the reviewer decided knowing the result is not asked.
    """
    strata: dict[tuple[str, VerdictKind], list[BlindReviewQuestion]] = defaultdict(list)
    for question in questions:
        if reviewer not in question.informed:
            strata[question.check_id, question.kind].append(question)
    counts, waiting = {}, {}
    for place, members in strata.items():
        decided = [question for question in members if reviewer in question.answers]
        passed = sum(question.answers[reviewer].passed is True for question in decided)
        counts[place] = Stratum(len(members), len(decided), passed)
        waiting[place] = [question for question in members if reviewer not in question.answers]
    more = allocate(counts, max(0, number - sum(stratum.labelled for stratum in counts.values())))
    chosen = [question for place, members in waiting.items() for question in members[: more[place]]]
    return sorted(chosen, key=lambda question: (question.position, question.check_id))


def blind_results(questions: Sequence[BlindReviewQuestion], reviewer: str = "") -> BlindResults:
    """Return how well people agree with each other and with the evaluator.

    Of questions that a reviewer has still to decide nothing is counted if it is that reviewer who asks.
    """
    takes_part = any(reviewer in question.answers for question in questions)
    shown = [
        replace(question, answers={}) if takes_part and _is_hidden(question, reviewer) else question
        for question in questions
    ]
    withheld = sum(bool(before.answers) and not after.answers for before, after in zip(questions, shown, strict=True))
    drawn = [question for question in shown if question.answers or not question.informed]
    last = max((answer.at for question in drawn for answer in question.answers.values()), default="")
    counted = [question for question in drawn if question.evaluated_at <= last]
    by_check: dict[str, list[BlindReviewQuestion]] = defaultdict(list)
    for question in counted:
        by_check[question.check_id].append(question)
    return BlindResults(
        checks=[_check_agreement(check_id, members) for check_id, members in sorted(by_check.items())],
        reviewers=list(_reviewer_pairs(shown)),
        withheld=withheld,
        informed=len(shown) - len(drawn),
        newer=len(drawn) - len(counted) if last else 0,
    )


def _is_hidden(question: BlindReviewQuestion, reviewer: str) -> bool:
    return reviewer not in question.answers and reviewer not in question.informed


def _check_agreement(check_id: str, questions: Sequence[BlindReviewQuestion]) -> CheckAgreement:
    kinds: list[KindCount] = []
    strata: dict[VerdictKind, Stratum] = {}
    cells: list[JudgedCell] = []
    for kind in VerdictKind:
        members = [question for question in questions if question.kind is kind]
        sample = list(takewhile(lambda question: bool(question.answers), members))
        counts = Counter(question.people_pass for question in sample)
        if members:
            strata[kind] = Stratum(len(members), len(sample), counts[True], counts[None])
            kinds.append(KindCount(kind, len(members), len(sample), counts[True], counts[False], counts[None]))
        cells += _cells(members, len(sample))
    corrected = calibrated_rate(list(strata.values())) or CalibratedRate(None, Interval(0.0, 1.0))
    return CheckAgreement(
        check_id=check_id,
        kinds=kinds,
        passed_by_evaluator=sum(question.evaluator_result is Result.PASS for question in questions),
        corrected=corrected,
        needed=_needed_decisions(strata, corrected),
        quality=judge_quality(cells),
        wrongly_passed=_contradicted_reports(questions, Result.PASS),
        wrongly_failed=_contradicted_reports(questions, Result.FAIL),
        drops=_drops(questions),
    )


def _needed_decisions(
    strata: Mapping[VerdictKind, Stratum], corrected: CalibratedRate
) -> dict[VerdictKind, int] | None:
    if corrected.interval.high - corrected.interval.low <= SETTLED_WIDTH:
        return {}
    needed = labels_for_width(strata, _AS_EVALUATED, SETTLED_WIDTH)
    return None if needed is None else {kind: number for kind, number in needed.items() if number}


def _cells(members: Sequence[BlindReviewQuestion], sampled: int) -> Iterator[JudgedCell]:
    """Yield the counts by verdict. Questions without a clear decision count as not decided."""
    for result in (Result.PASS, Result.FAIL):
        judged = [question for question in members if question.evaluator_result is result]
        sample = [question for question in members[:sampled] if question.evaluator_result is result]
        clear = [question.people_pass for question in sample if question.people_pass is not None]
        yield JudgedCell(result is Result.PASS, len(judged), len(clear), sum(clear))


def _contradicted_reports(questions: Iterable[BlindReviewQuestion], result: Result) -> list[str]:
    opposite = result is not Result.PASS
    return [
        question.report_id
        for question in questions
        if question.evaluator_result is result and question.people_pass is opposite
    ]


def _drops(questions: Iterable[BlindReviewQuestion]) -> dict[VerdictKind, AgreementDrop]:
    """Return by the evaluator's result whether people agree less often with it than before."""
    in_time = sorted(
        (answer.at, question.evaluator_result is Result.PASS, answer.passed)
        for question in questions
        if question.evaluator_result is not Result.INDETERMINATE
        for answer in question.answers.values()
        if answer.passed is not None
    )
    drops = agreement_drops([(verdict, passed is verdict) for _, verdict, passed in in_time])
    return {VerdictKind.PASSED if verdict else VerdictKind.FAILED: drop for verdict, drop in drops.items()}


def _reviewer_pairs(questions: Sequence[BlindReviewQuestion]) -> Iterator[ReviewerPair]:
    by_reviewer: dict[str, dict[int, bool | None]] = defaultdict(dict)
    for index, question in enumerate(questions):
        for name, answer in question.answers.items():
            by_reviewer[name][index] = answer.passed
    return reviewer_pairs(dict(sorted(by_reviewer.items())))
