"""The review of a report as its files have it."""

from __future__ import annotations

from salvo.playbooks.enums import Result, ShownStatus
from salvo.playbooks.review.events import ReviewEvent, ReviewStanding, SignOffStanding
from salvo.records import record


@record
class ReviewedCheck:
    """A check with what reviewers decided about it."""

    check_id: str
    """Its id in the playbook."""
    evaluator_result: Result
    """The evaluator's result, which is never overwritten."""
    reviewed_result: Result
    """The result with the reviewers' decisions; indeterminate if they are disputed."""
    standing: ReviewStanding
    """What became of it."""
    lines: tuple[str, ...]
    """What reviewers decided and said, in sentences."""


@record
class ReviewedSignOff:
    """A sign-off, and whether it still covers the report."""

    actor: str
    """Who signed off."""
    authenticated: bool
    """False if the name is as typed, and nobody checked it."""
    at: str
    """When, in UTC."""
    standing: SignOffStanding
    """Whether it covers the current state."""
    state_hash: str | None
    """What was signed: the hash of the report and of every decision and comment up to then."""
    sentence: str
    """All of this in a sentence."""


@record
class ReviewSection:
    """What people decided about the report. `events` is the record; the rest follows from it."""

    decides: bool
    """Whether the reviewed result was asked for. Then it decides over exit codes and failures in JUnit."""
    evaluator_status: ShownStatus
    """The status before the review."""
    reviewed_status: ShownStatus
    """The status that follows from the reviewed results by the same rules."""
    reviewed_status_reasons: tuple[str, ...]
    """Why it has this status, in sentences."""
    headline: str
    """The state of the review in a sentence."""
    checks: tuple[ReviewedCheck, ...]
    """Those that reviewers decided, discussed or assigned."""
    lines: tuple[str, ...]
    """What was said about the report as a whole, and about findings in the text that no check made."""
    sign_offs: tuple[ReviewedSignOff, ...]
    """Every sign-off, also those that were withdrawn."""
    state_hash: str
    """What a sign-off would have signed when this was written."""
    history: tuple[str, ...]
    """Every event in a sentence, the oldest first."""
    events: tuple[ReviewEvent, ...]
    """Every step of the review, the oldest first."""

    def check_lines(self, check_id: str) -> tuple[str, ...]:
        return next((check.lines for check in self.checks if check.check_id == check_id), ())
