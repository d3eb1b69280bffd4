"""How well an evaluator agrees with reviewers, and the pass rate corrected by their decisions."""

from salvo.playbooks.calibration import wording
from salvo.playbooks.calibration.analysis import CheckCalibration, calibrations
from salvo.playbooks.calibration.judged_check import JudgedCheck
from salvo.playbooks.enums import Result
from salvo.playbooks.review.labels import ReviewLabel

PLAYBOOK = {"playbook_id": "starter", "playbook_version": "1.0", "playbook_hash": "sha256:1"}


def judged(number: int, result: Result, *, unanimous: bool = True) -> JudgedCheck:
    return JudgedCheck(
        f"report-{number:03}", "certainty", result, unanimous, evaluator="rules", subject="contracts", **PLAYBOOK
    )


def label(check: JudgedCheck, result: Result, *, reviewer: str = "Ada", blind: bool = True, at: int = 0) -> ReviewLabel:
    return ReviewLabel(
        report_id=check.report_id,
        check_id=check.check_id,
        reviewer=reviewer,
        authenticated=False,
        evaluator_result=check.result,
        reviewer_result=result,
        blind=blind,
        at=f"2026-11-18T05:{at // 60:02}:{at % 60:02}",
        evaluated_at="2026-11-18T04:00:00",
        evaluator=check.evaluator,
        subject=check.subject,
        inputs_fingerprint="sha256:2",
        **PLAYBOOK,
    )


def only(checks: list[JudgedCheck], labels: list[ReviewLabel], *, only_blind: bool = False) -> CheckCalibration:
    [row] = calibrations(checks, labels, only_blind=only_blind)
    return row


PASSED = [judged(number, Result.PASS) for number in range(40)]
FAILED = [judged(number, Result.FAIL) for number in range(40, 50)]
SPLIT = [judged(number, Result.PASS, unanimous=False) for number in range(50, 52)]
UNJUDGED = [judged(60, Result.INDETERMINATE)]
EVERYTHING = [*PASSED, *FAILED, *SPLIT, *UNJUDGED]


class TestTheCorrectedRate:
    def test_is_exact_if_everything_was_reviewed(self) -> None:
        labels = [label(check, Result.PASS) for check in PASSED[:36]]
        labels += [label(check, Result.FAIL) for check in [*PASSED[36:], *FAILED, *SPLIT]]
        row = only(EVERYTHING, labels)
        assert (row.reports, row.indeterminate, row.reviewed, row.is_random) == (52, 1, 52, True)
        assert row.corrected_interval is not None
        assert round(row.corrected_rate or 0, 4) == round(36 / 52, 4) == round(row.corrected_interval.low, 4)
        assert row.quality.agreement is not None
        assert round(row.quality.agreement.value, 4) == round(46 / 52, 4)
        assert row.wrongly_passed == [check.report_id for check in [*PASSED[36:], *SPLIT]]
        assert row.review_next == []

    def test_does_not_use_reviews_that_somebody_chose(self) -> None:
        newest = only(EVERYTHING, [label(PASSED[0], Result.PASS)])
        chosen = [check for check in PASSED if check.report_id not in newest.review_next][:5]
        row = only(EVERYTHING, [label(check, Result.PASS) for check in chosen])
        assert row.corrected_rate is None
        assert row.corrected_interval == (0.0, 1.0)
        assert (row.is_random, row.reviewed) == (False, 5)
        assert "Only 0 of them were drawn at random" in wording.reviewed(row)

    def test_follows_from_reviewing_what_is_named_next(self) -> None:
        by_id = {check.report_id: check for check in EVERYTHING}
        labels = [label(FAILED[0], Result.FAIL)]
        for _ in range(3):
            named = only(EVERYTHING, labels).review_next
            assert 8 <= len(named) <= 10
            labels += [label(by_id[name], by_id[name].result) for name in named]
        row = only(EVERYTHING, labels)
        assert row.corrected_rate is not None
        assert row.corrected_interval is not None
        assert row.corrected_interval.low < row.corrected_rate < row.corrected_interval.high
        assert row.corrected_interval.high - row.corrected_interval.low < 0.3

    def test_counts_only_blind_decisions_if_asked_to(self) -> None:
        labels = [label(PASSED[0], Result.PASS, blind=False), label(PASSED[1], Result.FAIL)]
        assert only(EVERYTHING, labels).reviewed == 2
        assert only(EVERYTHING, labels, only_blind=True).reviewed == 1


class TestReviewers:
    def test_are_compared_where_both_were_blind(self) -> None:
        labels = [label(check, Result.PASS) for check in PASSED[:10]]
        labels += [label(check, Result.FAIL, reviewer="Bob") for check in PASSED[:2]]
        labels += [label(check, Result.PASS, reviewer="Bob") for check in PASSED[2:6]]
        labels += [label(check, Result.PASS, reviewer="Bob", blind=False) for check in PASSED[6:10]]
        row = only(EVERYTHING, labels)
        [pair] = row.reviewer_pairs
        assert (pair.reviewers, pair.agreement.items, pair.agreement.agreed) == (("Ada", "Bob"), 6, 4)
        assert wording.reviewer_sentences(row)[0].startswith("Ada and Bob agree on 4 of 6; Cohen's kappa ")

    def test_who_agree_less_often_than_before_are_a_notice(self) -> None:
        checks = [judged(number, Result.PASS) for number in range(60)]
        labels = [label(check, Result.PASS, at=number) for number, check in enumerate(checks[:40])]
        labels += [
            label(check, Result.FAIL if number % 2 else Result.PASS, at=number)
            for number, check in enumerate(checks[40:], start=40)
        ]
        [notice] = wording.notices(only(checks, labels))
        assert notice.startswith("People agreed with 10 of 20 texts judged passed, and before that with 40 of 40")
