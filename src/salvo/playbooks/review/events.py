"""Review events: what a person did about a report. They are added, and never altered or removed. Pure."""

from __future__ import annotations

from enum import StrEnum

from salvo.playbooks.enums import Result
from salvo.records import record


class ReviewAction(StrEnum):
    """What a reviewer did."""

    ACCEPT = "accept"
    """The reviewer agrees with the evaluator's result, or that a finding is one."""
    OVERRIDE = "override"
    """The reviewer gives another result, or says that a finding is none. The evaluator's own result stays."""
    COMMENT = "comment"
    """A remark about the report, a check or a finding."""
    ASSIGN = "assign"
    """Ask a person to look at the report or a check."""
    SIGN_OFF = "sign_off"
    """Sign the report with all decisions and comments so far."""
    WITHDRAW = "withdraw"
    """Take back an earlier event of one's own, which stays in the history."""
    AMEND = "amend"
    """Replace the content of an earlier event of one's own, which stays in the history."""


DECISIONS = frozenset({ReviewAction.ACCEPT, ReviewAction.OVERRIDE})
CHANGES = frozenset({ReviewAction.WITHDRAW, ReviewAction.AMEND})
"""The actions that are about an earlier event."""


class ReviewStanding(StrEnum):
    """What became of a check in the review."""

    UNDECIDED = "undecided"
    """Nobody decided it yet."""
    ACCEPTED = "accepted"
    """A reviewer agrees with the evaluator."""
    OVERRIDDEN = "overridden"
    """A reviewer gave another result."""
    DISPUTED = "disputed"
    """Reviewers decided differently, and none of them had seen the decisions of all others."""


class SignOffStanding(StrEnum):
    """Whether a sign-off covers the current state of the report."""

    VALID = "valid"
    """It covers everything that was decided and said."""
    STALE = "stale"
    """Something was decided or said after it."""
    WITHDRAWN = "withdrawn"
    """The reviewer took it back."""


@record
class ReviewDraft:
    """An event that is to be added. See `ReviewEvent` for the fields."""

    action: ReviewAction
    actor: str
    check_id: str | None = None
    finding: int | None = None
    result: Result | None = None
    reason: str = ""
    assignee: str | None = None
    target: str | None = None
    blind: bool = False
    authenticated: bool = False
    seen: int | None = None
    """None: the reviewer knows every event so far."""
    state_hash: str | None = None
    """The state that the reviewer saw and signs; None: the state as it is."""


@record
class ReviewEvent:
    """One step of a review."""

    event_id: str
    """Its id; amending or withdrawing it needs this."""
    report_id: str
    """The report that it is about."""
    sequence: int
    """Its number among the events of the report, from 1."""
    at: str
    """When, in UTC."""
    actor: str
    """Who."""
    authenticated: bool
    """False if the name is as typed, and nobody checked it."""
    action: ReviewAction
    """What they did."""
    check_id: str | None
    """None: it is about the report as a whole, or about a finding that no check made."""
    finding: int | None
    """With a check, the number of its quote; without, that of the report's finding in the text; both from 1."""
    result: Result | None
    """What the reviewer decided about a check."""
    reason: str
    """Why, or the text of a comment. Empty if there is none, or if it was erased; the hash stays."""
    assignee: str | None
    """To whom it was assigned; None: to nobody any more."""
    target: str | None
    """The event that is withdrawn or amended."""
    blind: bool
    """The reviewer saw neither the evaluator's result nor what other reviewers decided."""
    seen: int
    """The number of the newest event that the reviewer had seen; 0 if the review was blind."""
    state_hash: str | None
    """The hash of what was signed: the report, and every decision and comment up to then."""
    reason_sha256: str | None
    """The hash of a random salt and the reason, so that the reason can be erased; None if there is none."""
