"""Review events: what a person did about a report. They are added, and never altered or removed. Pure."""

from __future__ import annotations

from enum import StrEnum

from salvo.playbooks.enums import Result
from salvo.records import record


class ReviewAction(StrEnum):
    ACCEPT = "accept"
    """The reviewer agrees with the evaluator's result, or that a finding is one."""
    OVERRIDE = "override"
    """The reviewer gives another result, or says that a finding is none. The evaluator's own result stays."""
    COMMENT = "comment"
    ASSIGN = "assign"
    SIGN_OFF = "sign_off"
    WITHDRAW = "withdraw"
    """Take back an earlier event of one's own, which stays in the history."""
    AMEND = "amend"
    """Replace the content of an earlier event of one's own, which stays in the history."""


DECISIONS = frozenset({ReviewAction.ACCEPT, ReviewAction.OVERRIDE})
CHANGES = frozenset({ReviewAction.WITHDRAW, ReviewAction.AMEND})
"""The actions that are about an earlier event."""


class ReviewStanding(StrEnum):
    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    OVERRIDDEN = "overridden"
    DISPUTED = "disputed"
    """Reviewers decided differently, and none of them had seen the decisions of all others."""


class SignOffStanding(StrEnum):
    VALID = "valid"
    STALE = "stale"
    """Something was decided or said after it."""
    WITHDRAWN = "withdrawn"


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
    event_id: str
    report_id: str
    sequence: int
    """Its number among the events of the report, from 1."""
    at: str
    actor: str
    authenticated: bool
    """False if the name is as typed, and nobody checked it."""
    action: ReviewAction
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
    """What was signed: see `signed_state`."""
    reason_sha256: str | None
    """The hash of a random salt and the reason, so that the reason can be erased; None if there is none."""
