"""Sentences about reviews, the same on the page, on a terminal and in files. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Result, ShownStatus
from salvo.playbooks.review.events import ReviewAction, ReviewEvent, ReviewStanding, SignOffStanding
from salvo.playbooks.review.state import CheckReview, FindingReview, ReviewState, SignOff

TITLE = "Review"
HISTORY_TITLE = "Review history"
NOT_AUTHENTICATED = "name as typed, not authenticated"
NOT_SIGNED_OFF = "Nobody has signed off this report."
REVIEWED_REASONS = "After the review:"
ERASED = "(the text was erased)"


def person(event: ReviewEvent) -> str:
    return event.actor if event.authenticated else f"{event.actor} ({NOT_AUTHENTICATED})"


def format_when(at: str) -> str:
    """Return the time to the minute, in UTC, as the store has it."""
    return f"{at[:10]} {at[11:16]} UTC"


def headline(state: ReviewState, evaluator: ShownStatus, reviewed: ShownStatus) -> str:
    """Return the evaluator's status and the reviewed one in one sentence, and what is not decided yet."""
    if not state.has_decisions:
        return f"No reviewer has decided a check yet. The result is the evaluator's: {evaluator}."
    same = evaluator is reviewed
    result = f"{evaluator} by the evaluator{' and' if same else f'; {reviewed}'} after the review."
    if not state.undecided:
        return f"{result} Every check is decided."
    return f"{result} {pluralize(state.undecided, 'check is', 'checks are')} not decided yet."


def check_sentence(review: CheckReview) -> str:
    """Return both results of a check: the evaluator's and the reviewer's. Empty if no reviewer decided."""
    if review.standing is ReviewStanding.UNDECIDED:
        return ""
    evaluator = f"{review.evaluator_result.upper()} by the evaluator"
    if review.standing is ReviewStanding.DISPUTED:
        return f"{evaluator}; the reviewers disagree: {'; '.join(map(_vote, review.decisions))}"
    decision = review.decisions[-1]
    names = [event.actor for event in review.decisions]
    who = f"the reviewer {names[0]}" if len(names) == 1 else f"the reviewers {' and '.join(names)}"
    if review.standing is ReviewStanding.ACCEPTED:
        return _with_reason(f"{evaluator}; accepted by {who}", decision)
    return _with_reason(f"{evaluator}; changed to {review.reviewed_result.upper()} by {who}", decision)


def _vote(event: ReviewEvent) -> str:
    result = event.result or Result.INDETERMINATE
    return _with_reason(f"{result.upper()} by {event.actor}", event)


def _with_reason(sentence: str, event: ReviewEvent) -> str:
    text = _text(event)
    return f"{sentence}: {text}" if text else f"{sentence}."


def _text(event: ReviewEvent) -> str:
    if event.reason:
        return event.reason
    return ERASED if event.reason_sha256 is not None else ""


def finding_sentence(finding: FindingReview) -> str:
    """Return what reviewers decided about a passage. Empty if none decided."""
    if finding.standing is ReviewStanding.UNDECIDED:
        return ""
    if finding.standing is ReviewStanding.DISPUTED:
        verbs = {ReviewAction.ACCEPT: "accepted", ReviewAction.OVERRIDE: "rejected"}
        votes = (_with_reason(f"{verbs[event.action]} by {event.actor}", event) for event in finding.decisions)
        return f"Passage {finding.number}: the reviewers disagree: {'; '.join(votes)}"
    decision = finding.decisions[-1]
    verb = "accepted" if finding.standing is ReviewStanding.ACCEPTED else "rejected"
    return _with_reason(f"Passage {finding.number}: {verb} by the reviewer {decision.actor}", decision)


def comment_sentence(event: ReviewEvent, about: str = "") -> str:
    return f"{about}Comment by {event.actor}, {format_when(event.at)}: {_text(event)}"


def check_lines(review: CheckReview) -> Iterator[str]:
    """Yield everything that reviewers decided and said about a check."""
    if sentence := check_sentence(review):
        yield sentence
    if review.assignee is not None:
        yield f"Assigned to {review.assignee}."
    yield from map(comment_sentence, review.comments)
    for finding in review.findings:
        yield from finding_lines(finding)


def finding_lines(finding: FindingReview) -> Iterator[str]:
    if sentence := finding_sentence(finding):
        yield sentence
    yield from (comment_sentence(event, f"Passage {finding.number}: ") for event in finding.comments)


def sign_off_sentence(sign_off: SignOff) -> str:
    event = sign_off.event
    signed = _with_reason(f"Signed off by {person(event)}, {format_when(event.at)}", event)
    sentence = signed if signed.endswith((".", "!", "?")) else f"{signed}."
    if sign_off.standing is SignOffStanding.WITHDRAWN:
        return f"{sentence} Withdrawn since."
    if sign_off.standing is SignOffStanding.STALE:
        since = pluralize(sign_off.events_since, "step", "steps")
        return f"{sentence} It no longer covers the current state: {since} of the review came after it."
    return signed


def event_sentence(event: ReviewEvent, by_id: Mapping[str, ReviewEvent], names: Mapping[str, str] | None = None) -> str:
    """Return a line of the history. `names` are what to call the checks, where their ids mean nothing to a reader."""
    place = _place(event, names or {})
    action = event.action
    if action is ReviewAction.ACCEPT:
        verb_phrase = f"accepted {place}"
    elif action is ReviewAction.OVERRIDE:
        verb_phrase = f"rejected {place}" if event.result is None else f"changed {place} to {event.result.upper()}"
    elif action is ReviewAction.COMMENT:
        verb_phrase = f"commented on {place}"
    elif action is ReviewAction.ASSIGN:
        verb_phrase = f"assigned {place} to {event.assignee or 'nobody'}"
    elif action is ReviewAction.SIGN_OFF:
        verb_phrase = "signed off the report"
    else:
        target = by_id.get(event.target or "")
        verb = "withdrew" if action is ReviewAction.WITHDRAW else "amended"
        step = "an event" if target is None else f"step {target.sequence} ({target.action.replace('_', '-')})"
        change = f", now {event.result.upper()}" if action is ReviewAction.AMEND and event.result else ""
        verb_phrase = f"{verb} {step}{change}"
    blind = " without seeing the evaluator's result" if event.blind else ""
    return _with_reason(f"{event.sequence}. {format_when(event.at)}: {person(event)} {verb_phrase}{blind}", event)


def _place(event: ReviewEvent, names: Mapping[str, str]) -> str:
    if event.check_id is None:
        return "the report" if event.finding is None else f"finding {event.finding} in the text"
    name = names.get(event.check_id, event.check_id)
    return name if event.finding is None else f"passage {event.finding} of {name}"
