"""The status after a review, by the same rules as the evaluator's."""

from dataclasses import replace

import pytest

from salvo.playbooks.enums import DRIFT, RUN_VARIANCE, Result, Status
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.events import ReviewDraft
from salvo.playbooks.review.reviewed import as_reviewed
from salvo.playbooks.review.state import state
from tests.support.playbooks import a_report
from tests.support.reviews import FAILED, PASSED, accept, comment, events_of, override


def reviewed(report: Report, *drafts: ReviewDraft) -> Report:
    return as_reviewed(report, state(report, events_of(drafts, report)))


def test_without_a_decision_it_is_the_report_itself() -> None:
    report = a_report()
    assert reviewed(report, comment()) is report


def test_the_status_follows_from_the_reviewed_results() -> None:
    changed = reviewed(a_report(), override())
    assert changed.summary.overall_status is Status.STABLE
    assert reviewed(a_report(), accept()).summary.overall_status is Status.ALERT
    worse = reviewed(a_report(), override(), override(check_id=PASSED, result=Result.FAIL))
    assert worse.summary.overall_status is Status.ALERT


def test_a_disputed_high_severity_check_needs_a_review() -> None:
    disputed = reviewed(a_report(), accept("Ada", seen=0), override("Bob", seen=0))
    assert disputed.summary.overall_status is Status.REVIEW


def test_votes_are_missing_only_where_no_reviewer_decided() -> None:
    plain = a_report()
    checks = tuple(replace(check, incomplete=check.check_id == FAILED) for check in plain.check_results)
    report = a_report(incomplete=True, check_results=checks)
    assert reviewed(report, accept(check_id=PASSED)).incomplete
    assert not reviewed(report, override()).incomplete


def test_the_evaluators_agreement_with_itself_counts_until_people_have_decided_everything() -> None:
    report = a_report(consistency=0.5)
    assert reviewed(report, override()).summary.overall_status is Status.REVIEW
    assert reviewed(report, override(), accept(check_id=PASSED)).summary.overall_status is Status.STABLE


@pytest.mark.parametrize("derived", [RUN_VARIANCE, DRIFT])
def test_a_check_that_measures_the_evaluator_counts_until_people_have_decided_everything(derived: str) -> None:
    checks = tuple(
        replace(check, result=Result.FAIL) if check.check_id == derived else check for check in a_report().check_results
    )
    drift = replace(a_report().drift_summary, kind="judge")
    report = a_report(check_results=checks, drift_summary=drift)
    assert reviewed(report, override()).summary.overall_status is Status.OBSERVE
    assert reviewed(report, override(), accept(check_id=PASSED)).summary.overall_status is Status.STABLE
