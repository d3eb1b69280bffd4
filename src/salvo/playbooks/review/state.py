"""What the events of a report come to: per check the evaluator's result and the reviewed one. Pure.

Two people may decide at the same time. Both events stand. A decision replaces an earlier one only if it is by the same
person, or by somebody who had seen the earlier one. Where decisions remain that contradict each other, the check is
disputed and its reviewed result is indeterminate, until somebody who has seen both decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from salvo.playbooks.enums import Result
from salvo.playbooks.report.report import CheckResult, Report
from salvo.playbooks.review.events import (
    CHANGES,
    DECISIONS,
    ReviewAction,
    ReviewEvent,
    ReviewStanding,
    SignOffStanding,
)
from salvo.playbooks.review.signed_state import is_signed, state_hash
from salvo.playbooks.store.column_text import as_name
from salvo.records import record


@record
class EventHistory:
    """An event with what its author did to it later."""

    original: ReviewEvent
    current: ReviewEvent
    """The original with the content, number and time of its newest amendment."""
    amendments: tuple[ReviewEvent, ...] = ()
    withdrawal: ReviewEvent | None = None


@record
class FindingReview:
    number: int
    standing: ReviewStanding
    decisions: tuple[ReviewEvent, ...]
    comments: tuple[ReviewEvent, ...]


@record
class CheckReview:
    check_id: str
    derived: bool
    """It follows from the other checks and from a baseline, so nobody has to decide it."""
    evaluator_result: Result
    reviewed_result: Result
    """The evaluator's, if no reviewer decided; indeterminate, if reviewers disagree."""
    standing: ReviewStanding
    decisions: tuple[ReviewEvent, ...]
    """The decisions that count, the newest last: those that no later decision replaced."""
    comments: tuple[ReviewEvent, ...]
    """On the check, without those on single findings."""
    assignee: str | None
    findings: tuple[FindingReview, ...]
    """One for each quote of the check."""

    @property
    def waits(self) -> bool:
        """Return whether it waits for a decision."""
        return self.standing is ReviewStanding.DISPUTED or (
            self.standing is ReviewStanding.UNDECIDED and not self.derived
        )


@record
class SignOff:
    event: ReviewEvent
    standing: SignOffStanding
    events_since: int
    """How many events after it changed what was signed."""


@record
class ReviewState:
    checks: tuple[CheckReview, ...]
    """In the order of the report."""
    findings: tuple[FindingReview, ...]
    """One for each finding in the text that no check made, such as hidden text."""
    comments: tuple[ReviewEvent, ...]
    """On the report as a whole."""
    assignee: str | None
    """To whom the report as a whole is assigned."""
    sign_offs: tuple[SignOff, ...]
    state_hash: str
    """What a sign-off would sign now."""
    last_sequence: int
    """The number of the newest event; 0 if there is none."""

    @property
    def undecided(self) -> int:
        """The number of checks that wait for a decision."""
        return sum(check.waits for check in self.checks)

    @property
    def has_decisions(self) -> bool:
        return any(check.decisions for check in self.checks)

    def check(self, check_id: str) -> CheckReview | None:
        return next((check for check in self.checks if check.check_id == check_id), None)


def state(report: Report, events: Sequence[ReviewEvent]) -> ReviewState:
    """Return what the events say together. They are in the order of their numbers."""
    histories = event_histories(events)
    active = [history.current for history in histories if history.withdrawal is None]
    by_place: dict[tuple[str | None, int | None], list[ReviewEvent]] = {}
    for event in active:
        by_place.setdefault((event.check_id, event.finding), []).append(event)
    on_report = by_place.get((None, None), [])
    report_hash = report.integrity.report_hash
    return ReviewState(
        checks=tuple(_check(check, by_place) for check in report.check_results),
        findings=tuple(
            _finding(number, by_place.get((None, number), []))
            for number, _ in enumerate(report.artifact_findings, start=1)
        ),
        comments=_of_action(on_report, ReviewAction.COMMENT),
        assignee=newest_assignee(on_report),
        sign_offs=tuple(_sign_offs(histories, events, report_hash)),
        state_hash=state_hash(report_hash, events),
        last_sequence=events[-1].sequence if events else 0,
    )


def event_histories(events: Iterable[ReviewEvent]) -> list[EventHistory]:
    """Return every event that is not itself about an earlier one, with its amendments and its withdrawal."""
    histories: dict[str, EventHistory] = {}
    for event in events:
        if event.action not in CHANGES:
            histories[event.event_id] = EventHistory(event, event)
            continue
        history = histories.get(event.target or "")
        if history is None or history.withdrawal is not None:
            continue  # only damaged data: `check_draft` refuses it
        if event.action is ReviewAction.WITHDRAW:
            histories[history.original.event_id] = replace(history, withdrawal=event)
            continue
        current = replace(
            event,
            event_id=history.original.event_id,
            action=history.original.action,
            check_id=history.original.check_id,
            finding=history.original.finding,
            target=None,
        )
        histories[history.original.event_id] = replace(
            history, current=current, amendments=(*history.amendments, event)
        )
    return list(histories.values())


def standing_decisions(events: Iterable[ReviewEvent]) -> tuple[ReviewEvent, ...]:
    """Return the decisions about one check or finding that no later decision replaced, the newest last."""
    decisions = sorted((event for event in events if event.action in DECISIONS), key=lambda event: event.sequence)
    return tuple(
        decision
        for number, decision in enumerate(decisions)
        if not any(_replaces(later, decision) for later in decisions[number + 1 :])
    )


def _replaces(later: ReviewEvent, earlier: ReviewEvent) -> bool:
    return later.actor == earlier.actor or later.seen >= earlier.sequence


def reviewed_result(evaluator_result: Result, decisions: Sequence[ReviewEvent]) -> tuple[Result, ReviewStanding]:
    """Return what the decisions about a check that count come to; see `standing_decisions`."""
    results = {decision.result for decision in decisions if decision.result is not None}
    if not results:
        return evaluator_result, ReviewStanding.UNDECIDED
    if len(results) > 1:
        return Result.INDETERMINATE, ReviewStanding.DISPUTED
    result = results.pop()
    return result, ReviewStanding.ACCEPTED if result is evaluator_result else ReviewStanding.OVERRIDDEN


def _check(check: CheckResult, by_place: dict[tuple[str | None, int | None], list[ReviewEvent]]) -> CheckReview:
    name = as_name(check.check_id)
    events = by_place.get((name, None), [])
    decisions = standing_decisions(events)
    reviewed, standing = reviewed_result(check.result, decisions)
    return CheckReview(
        check_id=check.check_id,
        derived=check.decided_by == "derived",
        evaluator_result=check.result,
        reviewed_result=reviewed,
        standing=standing,
        decisions=decisions,
        comments=_of_action(events, ReviewAction.COMMENT),
        assignee=newest_assignee(events),
        findings=tuple(
            _finding(number, by_place.get((name, number), []))
            for number, _ in enumerate(check.evidence_citations, start=1)
        ),
    )


def _finding(number: int, events: Sequence[ReviewEvent]) -> FindingReview:
    decisions = standing_decisions(events)
    actions = {decision.action for decision in decisions}
    if not actions:
        standing = ReviewStanding.UNDECIDED
    elif len(actions) > 1:
        standing = ReviewStanding.DISPUTED
    else:
        standing = ReviewStanding.ACCEPTED if ReviewAction.ACCEPT in actions else ReviewStanding.OVERRIDDEN
    return FindingReview(number, standing, decisions, _of_action(events, ReviewAction.COMMENT))


def _of_action(events: Iterable[ReviewEvent], action: ReviewAction) -> tuple[ReviewEvent, ...]:
    return tuple(event for event in events if event.action is action)


def newest_assignee(events: Iterable[ReviewEvent]) -> str | None:
    """Return to whom the one thing that the events are about is assigned."""
    assignments = sorted(_of_action(events, ReviewAction.ASSIGN), key=lambda event: event.sequence)
    return assignments[-1].assignee if assignments else None


def _sign_offs(histories: Iterable[EventHistory], events: Sequence[ReviewEvent], report_hash: str) -> Iterator[SignOff]:
    now = state_hash(report_hash, events)
    for history in histories:
        signed = history.current
        if signed.action is not ReviewAction.SIGN_OFF:
            continue
        if history.withdrawal is not None:
            yield SignOff(signed, SignOffStanding.WITHDRAWN, 0)
        elif signed.state_hash == now:
            yield SignOff(signed, SignOffStanding.VALID, 0)
        else:
            yield SignOff(signed, SignOffStanding.STALE, _signed_since(events, signed.sequence))


def _signed_since(events: Sequence[ReviewEvent], sequence: int) -> int:
    by_id = {event.event_id: event for event in events}
    return sum(event.sequence > sequence and is_signed(event, by_id) for event in events)
