"""Which review events are refused, and what the refusal says."""

from collections.abc import Callable

import pytest

from salvo.errors import ReviewChangedError, UsageError
from salvo.playbooks.enums import Result
from salvo.playbooks.review.events import ReviewAction, ReviewDraft
from tests.support.reviews import accept, amend, comment, events_of, override, sign_off, withdraw


@pytest.mark.parametrize(
    "draft, message",
    [
        (override(reason="  "), "An override needs a reason."),
        (override(result=None), "An override needs a result."),
        (override(result=Result.FAIL), "The evaluator's result is already FAIL."),
        (override(finding=1), "A finding has no result of its own."),
        (accept(check_id="nothing"), "The report has no check 'nothing'."),
        (accept(finding=9), "There is no finding 9: the check certainty_language has 1 finding."),
        (comment(finding=1), "There is no finding 1: the report has no findings."),
        (accept(" "), "A review needs the name of the reviewer."),
        (accept("A\nB"), "The name of the reviewer is too long, or has characters that cannot be shown."),
        (comment(reason="x" * 20_001), "The text is longer than 20,000 characters."),
        (comment(reason="\0"), "The text has characters that cannot be stored."),
        (comment(reason=""), "A comment needs a text."),
        (accept(blind=True), "Only a decision with a result can be blind."),
        (ReviewDraft(ReviewAction.SIGN_OFF, "Ada", check_id="x"), "The review action sign_off takes no check_id."),
        (withdraw("e7"), "No event of this report has an id that begins with 'e7'."),
        (withdraw("e1", "Bob"), "The event e1 is by Ada, and only they can withdraw it."),
        (withdraw("e2"), "The event e2 was withdrawn already."),
        (withdraw("e3"), "The event e3 is itself a change of an earlier one, and cannot be changed."),
        (amend("e1", reason="x", result=Result.FAIL), "The evaluator's result is already FAIL."),
        (amend("e1"), "An amendment needs the new text."),
    ],
)
def test_it_is_refused(draft: ReviewDraft, message: str) -> None:
    earlier = [override(), comment(), withdraw("e2")]
    with pytest.raises(UsageError) as refused:
        events_of([*earlier, draft])
    assert refused.value.message == message


@pytest.mark.parametrize("decision", [accept, override])
def test_nobody_decides_a_check_that_measures_the_evaluator(decision: Callable[..., ReviewDraft]) -> None:
    with pytest.raises(
        UsageError, match="Nobody decides the check run_variance: it is computed from the evaluator's other results"
    ):
        events_of([decision(check_id="run_variance")])
    events_of([comment(check_id="run_variance")])


def test_nobody_signs_what_they_have_not_seen() -> None:
    seen = events_of([sign_off()])[0].state_hash
    with pytest.raises(ReviewChangedError):
        events_of([comment("Bob"), sign_off(state_hash=seen)])
    assert events_of([sign_off("Bob"), sign_off(state_hash=seen)])[1].state_hash == seen


def test_a_decision_has_its_result_whether_it_was_given_or_not() -> None:
    accepted, blind = events_of([accept(), override("Bob", blind=True, result=Result.FAIL, reason="")])
    assert (accepted.result, blind.result, blind.action) == (Result.FAIL, Result.FAIL, "accept")
