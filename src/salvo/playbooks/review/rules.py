"""Which events may be added to a report. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from salvo.engine.jsonio.surrogates import has_surrogates
from salvo.engine.text.formatting import pluralize
from salvo.errors import ReviewChangedError, UsageError
from salvo.playbooks.report.report import CheckResult, Report
from salvo.playbooks.review.events import CHANGES, DECISIONS, ReviewAction, ReviewDraft, ReviewEvent
from salvo.playbooks.review.signed_state import state_hash
from salvo.playbooks.review.state import EventHistory, event_histories
from salvo.playbooks.store.column_text import as_name

MAX_NAME_LENGTH = 200
MAX_REASON_LENGTH = 20_000


def checked_draft(draft: ReviewDraft, report: Report, events: Sequence[ReviewEvent]) -> ReviewDraft:
    """Return the draft as it is to be stored, or raise UsageError with what is wrong with it.

    A decision gets its result, a blind one the action that its result comes to, and a sign-off the state that it signs.
    """
    draft = replace(draft, actor=draft.actor.strip(), reason=draft.reason.strip(), assignee=_stripped(draft.assignee))
    _check_texts(draft)
    _check_fields(draft)
    last = events[-1].sequence if events else 0
    seen = 0 if draft.blind else last if draft.seen is None else min(max(draft.seen, 0), last)
    draft = replace(draft, seen=seen)
    if draft.action in CHANGES:
        return _checked_change(draft, report, events)
    if draft.action is ReviewAction.SIGN_OFF:
        return _signing(draft, report, events)
    check = _named_check(draft, report)
    if draft.action is ReviewAction.COMMENT and not draft.reason:
        raise UsageError("A comment needs a text.")
    if draft.action not in DECISIONS:
        return draft
    if check is not None and check.decided_by == "derived":
        raise UsageError(
            f"Nobody decides the check {check.check_id}: it is computed from the evaluator's other results.",
            hint="Comment on it, or decide the other checks: once people have decided them all, it no longer counts.",
        )
    if draft.blind:
        _check_blind(draft, events)
    return _checked_decision(draft, check)


def _check_blind(draft: ReviewDraft, events: Sequence[ReviewEvent]) -> None:
    """Refuse a blind decision of somebody who decided the check before, knowing the evaluator's result."""
    check_id = None if draft.check_id is None else as_name(draft.check_id)
    for event in events:
        is_own = event.actor == draft.actor and event.check_id == check_id
        if is_own and event.action in DECISIONS and not event.blind:
            raise UsageError(
                f"{draft.actor} decided the check {draft.check_id} before, knowing the evaluator's result.",
                hint="Only somebody who has not seen the result can decide blind.",
            )


def _stripped(name: str | None) -> str | None:
    return name.strip() or None if name is not None else None


def _check_texts(draft: ReviewDraft) -> None:
    if not draft.actor:
        raise UsageError("A review needs the name of the reviewer.", hint="Give your name.")
    for what, name in (("reviewer", draft.actor), ("person to assign to", draft.assignee or "")):
        if len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise UsageError(
                f"The name of the {what} is too long, or has characters that cannot be shown.",
                hint=f"Use at most {MAX_NAME_LENGTH} characters, without line breaks.",
            )
    if len(draft.reason) > MAX_REASON_LENGTH:
        raise UsageError(f"The text is longer than {MAX_REASON_LENGTH:,} characters.", hint="Shorten it.")
    if "\0" in draft.reason or has_surrogates(draft.reason):
        raise UsageError("The text has characters that cannot be stored.", hint="Write it in UTF-8.")


def _check_fields(draft: ReviewDraft) -> None:
    """Refuse what an action does not have, so that nobody believes it was recorded."""
    allowed = {
        "check_id": draft.action not in CHANGES | {ReviewAction.SIGN_OFF},
        "finding": draft.action in DECISIONS | {ReviewAction.COMMENT},
        "result": draft.action in (ReviewAction.OVERRIDE, ReviewAction.AMEND),
        "assignee": draft.action in (ReviewAction.ASSIGN, ReviewAction.AMEND),
        "target": draft.action in CHANGES,
        "state_hash": draft.action in (ReviewAction.SIGN_OFF, ReviewAction.AMEND),
    }
    for name, is_allowed in allowed.items():
        if getattr(draft, name) is not None and not is_allowed:
            raise UsageError(f"The review action {draft.action} takes no {name}.")
    if draft.blind and draft.action is not ReviewAction.OVERRIDE:
        raise UsageError("Only a decision with a result can be blind.", hint="Give the result that you come to.")


def _named_check(draft: ReviewDraft, report: Report) -> CheckResult | None:
    """Return the check that the draft is about; None if it is about the report or a finding in the text."""
    check = next((check for check in report.check_results if check.check_id == draft.check_id), None)
    if draft.check_id is not None and check is None:
        names = ", ".join(check.check_id for check in report.check_results)
        raise UsageError(f"The report has no check {draft.check_id!r}.", hint=f"Its checks: {names}.")
    if draft.finding is not None:
        count = len(report.artifact_findings if check is None else check.evidence_citations)
        if not 1 <= draft.finding <= count:
            where = "the report" if check is None else f"the check {check.check_id}"
            have = pluralize(count, "finding") if count else "no findings"
            raise UsageError(f"There is no finding {draft.finding}: {where} has {have}.")
    return check


def _checked_decision(draft: ReviewDraft, check: CheckResult | None) -> ReviewDraft:
    if check is None and draft.finding is None:
        raise UsageError("A decision is about a check or a finding.", hint="Name the check.")
    if draft.action is ReviewAction.ACCEPT:
        about_check = check is not None and draft.finding is None
        return replace(draft, result=check.result) if check is not None and about_check else draft
    if draft.finding is None and check is not None:
        if draft.result is None:
            raise UsageError("An override needs a result.", hint="Give pass, fail or indeterminate.")
        if draft.blind:
            agrees = draft.result is check.result
            return replace(draft, action=ReviewAction.ACCEPT if agrees else ReviewAction.OVERRIDE)
        _check_override(draft, check)
    elif draft.result is not None or draft.blind:
        raise UsageError(
            "A finding has no result of its own.", hint="Accept it, or override it with the reason why it is none."
        )
    if not draft.reason:
        raise UsageError("An override needs a reason.", hint="Say why the evaluator's result is not right.")
    return draft


def _check_override(draft: ReviewDraft, check: CheckResult) -> None:
    if draft.result is check.result:
        raise UsageError(
            f"The evaluator's result is already {check.result.upper()}.", hint="Accept it, or give another result."
        )


def _checked_change(draft: ReviewDraft, report: Report, events: Sequence[ReviewEvent]) -> ReviewDraft:
    history = _target(draft, events)
    original = history.original
    if (original.actor, original.authenticated) != (draft.actor, draft.authenticated):
        raise UsageError(
            f"The event {original.event_id} is by {original.actor}, and only they can {draft.action} it.",
            hint="Add a decision or a comment of your own.",
        )
    if history.withdrawal is not None:
        raise UsageError(f"The event {original.event_id} was withdrawn already.")
    if draft.action is ReviewAction.WITHDRAW:
        return replace(draft, target=original.event_id)
    return _checked_amendment(replace(draft, target=original.event_id), original, report, events)


def _target(draft: ReviewDraft, events: Sequence[ReviewEvent]) -> EventHistory:
    if not draft.target:
        raise UsageError(f"Name the event to {draft.action}.", hint="The list of events shows their ids.")
    matching = [event for event in events if event.event_id.startswith(draft.target)]
    exact = [event for event in matching if event.event_id == draft.target] or matching
    if len(exact) != 1:
        what = "No event" if not exact else "More than one event"
        raise UsageError(f"{what} of this report has an id that begins with {draft.target!r}.")
    if exact[0].action in CHANGES:
        raise UsageError(f"The event {exact[0].event_id} is itself a change of an earlier one, and cannot be changed.")
    return next(history for history in event_histories(events) if history.original is exact[0])


def _checked_amendment(
    draft: ReviewDraft, original: ReviewEvent, report: Report, events: Sequence[ReviewEvent]
) -> ReviewDraft:
    has_result = original.action is ReviewAction.OVERRIDE and original.finding is None
    if draft.result is not None and not has_result:
        raise UsageError("Only an override of a check has a result.", hint="Add a new decision instead.")
    if draft.assignee is not None and original.action is not ReviewAction.ASSIGN:
        raise UsageError("Only an assignment names a person.")
    if original.action is ReviewAction.SIGN_OFF:
        return _signing(draft, report, events)
    if draft.state_hash is not None:
        raise UsageError("Only a sign-off signs a state.")
    if original.action in (ReviewAction.OVERRIDE, ReviewAction.COMMENT) and not draft.reason:
        raise UsageError("An amendment needs the new text.", hint="Withdraw the event if it should not count.")
    amended = replace(draft, result=draft.result or original.result)
    check = next((check for check in report.check_results if as_name(check.check_id) == original.check_id), None)
    if has_result and check is not None:
        _check_override(amended, check)
    return amended


def _signing(draft: ReviewDraft, report: Report, events: Sequence[ReviewEvent]) -> ReviewDraft:
    """Return the draft with the state that it signs. Nobody signs what they have not seen."""
    now = state_hash(report.integrity.report_hash, events)
    if draft.state_hash is not None and draft.state_hash != now:
        raise ReviewChangedError(
            "Something was decided or said about this report since you looked at it, so nothing was signed.",
            hint="Look at it again, then sign.",
        )
    return replace(draft, state_hash=now)
