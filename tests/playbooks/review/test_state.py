"""What review events come to: both results are kept, both reviewers are heard, and a signature names what it signed."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from salvo.playbooks.enums import Result
from salvo.playbooks.review.events import ReviewAction, ReviewDraft, ReviewStanding, SignOffStanding
from salvo.playbooks.review.state import CheckReview, ReviewState, state
from tests.support.playbooks import a_report
from tests.support.reviews import (
    FAILED,
    PASSED,
    accept,
    amend,
    comment,
    events_of,
    override,
    sign_off,
    withdraw,
)

REPORT = a_report()


def reviewed(*drafts: ReviewDraft) -> ReviewState:
    return state(REPORT, events_of(drafts))


def check(*drafts: ReviewDraft, check_id: str = FAILED) -> CheckReview:
    found = reviewed(*drafts).check(check_id)
    assert found is not None
    return found


def test_without_events_every_check_has_the_evaluators_result_and_waits() -> None:
    now = reviewed()
    assert [review.reviewed_result for review in now.checks] == [check.result for check in REPORT.check_results]
    assert {review.standing for review in now.checks} == {ReviewStanding.UNDECIDED}
    assert now.undecided == 2  # the other two are derived


def test_an_override_stands_beside_the_evaluators_result() -> None:
    review = check(override())
    assert (review.evaluator_result, review.reviewed_result) == (Result.FAIL, Result.PASS)
    assert review.standing is ReviewStanding.OVERRIDDEN
    assert review.decisions[0].reason == "The clause is quoted, not asserted."


def test_an_accepted_check_keeps_its_result() -> None:
    review = check(accept())
    assert (review.reviewed_result, review.standing) == (Result.FAIL, ReviewStanding.ACCEPTED)


def test_a_later_decision_of_somebody_who_saw_the_earlier_one_replaces_it() -> None:
    review = check(override("Ada"), accept("Bob"))
    assert [decision.actor for decision in review.decisions] == ["Bob"]
    assert review.standing is ReviewStanding.ACCEPTED


def test_decisions_made_at_once_both_stand_and_the_check_is_disputed() -> None:
    review = check(override("Ada", seen=0), accept("Bob", seen=0))
    assert [decision.actor for decision in review.decisions] == ["Ada", "Bob"]
    assert (review.standing, review.reviewed_result) == (ReviewStanding.DISPUTED, Result.INDETERMINATE)


def test_equal_decisions_made_at_once_are_no_dispute() -> None:
    review = check(override("Ada", seen=0), override("Bob", seen=0))
    assert (review.standing, len(review.decisions)) == (ReviewStanding.OVERRIDDEN, 2)


def test_whoever_has_seen_both_ends_a_dispute() -> None:
    review = check(override("Ada", seen=0), accept("Bob", seen=0), override("Cyd", reason="I asked the client."))
    assert [decision.actor for decision in review.decisions] == ["Cyd"]
    assert review.reviewed_result is Result.PASS


def test_blind_reviewers_never_replace_each_other() -> None:
    review = check(override("Ada", blind=True), override("Bob", blind=True, result=Result.FAIL, seen=1))
    assert review.standing is ReviewStanding.DISPUTED
    assert [decision.action for decision in review.decisions] == ["override", "accept"]


def test_a_withdrawn_decision_leaves_what_was_before_it() -> None:
    review = check(accept("Bob"), override("Ada"), withdraw("e2", "Ada"))
    assert [decision.actor for decision in review.decisions] == ["Bob"]
    assert review.standing is ReviewStanding.ACCEPTED


def test_an_amended_override_has_its_new_result_and_reason() -> None:
    review = check(override(), amend("e1", result=Result.INDETERMINATE, reason="On reflection, it depends."))
    assert review.reviewed_result is Result.INDETERMINATE
    assert review.decisions[0].reason == "On reflection, it depends."


def test_an_amendment_replaces_what_its_author_had_seen_by_then() -> None:
    """Bob decided between Ada's decision and its amendment; she had seen that."""
    review = check(override("Ada"), accept("Bob"), amend("e1", "Ada", reason="Still: it is a quotation."))
    assert [decision.actor for decision in review.decisions] == ["Ada"]


def test_a_decision_on_a_finding_does_not_decide_the_check() -> None:
    review = check(override(finding=1, result=None))
    assert review.standing is ReviewStanding.UNDECIDED
    assert review.findings[0].standing is ReviewStanding.OVERRIDDEN


def test_comments_are_kept_at_what_they_are_about() -> None:
    now = reviewed(comment(), comment(check_id=FAILED), comment(check_id=FAILED, finding=1))
    found = now.check(FAILED)
    assert found is not None
    assert [len(now.comments), len(found.comments), len(found.findings[0].comments)] == [1, 1, 1]


def test_the_newest_assignment_counts_and_nobody_is_one() -> None:
    def assign(name: str | None, check_id: str | None = None) -> ReviewDraft:
        return ReviewDraft(ReviewAction.ASSIGN, "Ada", check_id=check_id, assignee=name)

    now = reviewed(assign("Bob"), assign("Cyd", FAILED), assign("Dee", PASSED), assign(None, PASSED))
    assert now.assignee == "Bob"
    assert [review.assignee for review in now.checks[:2]] == [None, "Cyd"]


def test_a_sign_off_is_valid_until_something_is_decided_or_said() -> None:
    def standing(*later: ReviewDraft) -> SignOffStanding:
        return reviewed(override(), sign_off(), *later).sign_offs[0].standing

    assert standing() is SignOffStanding.VALID
    assert standing(sign_off("Bob")) is SignOffStanding.VALID
    assert standing(comment("Bob")) is SignOffStanding.STALE
    assert standing(accept("Bob")) is SignOffStanding.STALE
    assert standing(withdraw("e1")) is SignOffStanding.STALE
    assert standing(withdraw("e2")) is SignOffStanding.WITHDRAWN


def test_a_stale_sign_off_says_how_many_events_came_after_it() -> None:
    assert reviewed(sign_off(), comment("Bob"), sign_off("Cyd"), accept("Bob")).sign_offs[0].events_since == 2


def test_an_amended_sign_off_signs_the_state_as_it_is_then() -> None:
    now = reviewed(sign_off(), comment("Bob"), amend("e1", reason="I have read the comment."))
    assert [signed.standing for signed in now.sign_offs] == [SignOffStanding.VALID]


def test_what_was_signed_does_not_change_when_a_text_is_erased() -> None:
    events = events_of([override(), comment("Bob"), sign_off()])
    erased = [replace(event, reason="") for event in events]
    assert state(REPORT, erased).sign_offs[0].standing is SignOffStanding.VALID


DECISIONS = st.builds(
    lambda actor, result, seen: (
        accept(actor, seen=seen) if result is Result.FAIL else override(actor, result=result, seen=seen)
    ),
    st.sampled_from(["Ada", "Bob", "Cyd"]),
    st.sampled_from(list(Result)),
    st.integers(0, 6),
)


@given(st.lists(DECISIONS, min_size=1, max_size=6))
def test_the_newest_decision_always_stands_and_nobody_is_overruled_unseen(drafts: list[ReviewDraft]) -> None:
    events = events_of(drafts)
    review = state(REPORT, events).check(FAILED)
    assert review is not None
    assert review.decisions[-1] == events[-1]
    for event in events:
        replaced = event not in review.decisions
        later = [other for other in events if other.sequence > event.sequence]
        assert replaced == any(other.actor == event.actor or other.seen >= event.sequence for other in later)
    results = {decision.result for decision in review.decisions}
    assert (review.standing is ReviewStanding.DISPUTED) == (len(results) > 1)
