"""The review of a report as its files have it."""

from __future__ import annotations

from salvo.playbooks.enums import Result, ShownStatus
from salvo.playbooks.review.events import ReviewEvent, ReviewStanding, SignOffStanding
from salvo.records import record


@record
class ReviewedCheck:
    check_id: str
    evaluator_result: Result
    reviewed_result: Result
    standing: ReviewStanding
    lines: tuple[str, ...]
    """What reviewers decided and said, in sentences."""


@record
class ReviewedSignOff:
    actor: str
    authenticated: bool
    at: str
    standing: SignOffStanding
    state_hash: str | None
    sentence: str


@record
class ReviewSection:
    decides: bool
    """Whether the reviewed result was asked for. Then it decides over exit codes and failures in JUnit."""
    evaluator_status: ShownStatus
    reviewed_status: ShownStatus
    reviewed_status_reasons: tuple[str, ...]
    headline: str
    checks: tuple[ReviewedCheck, ...]
    """Those that reviewers decided, discussed or assigned."""
    lines: tuple[str, ...]
    """What was said about the report as a whole, and about findings in the text that no check made."""
    sign_offs: tuple[ReviewedSignOff, ...]
    state_hash: str
    """What a sign-off would have signed when this was written."""
    history: tuple[str, ...]
    """Every event in a sentence, the oldest first."""
    events: tuple[ReviewEvent, ...]

    def check_lines(self, check_id: str) -> tuple[str, ...]:
        return next((check.lines for check in self.checks if check.check_id == check_id), ())
