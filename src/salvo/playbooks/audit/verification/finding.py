"""What a verification found about one part of an evaluation, a store or a file."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from salvo.records import record

_MAX_DIFFERENCES = 5
"""The number of differences that a message names."""


def join_first(changes: Iterable[str], separator: str = "; ") -> str:
    """Return the first changes, and how many more there are."""
    parts = list(changes)
    more = len(parts) - _MAX_DIFFERENCES
    return separator.join((*parts[:_MAX_DIFFERENCES], *([f"and {more:,} more"] if more > 0 else [])))


class VerificationState(StrEnum):
    HOLDS = "holds"
    """It is what was logged, or what was signed."""
    ALTERED = "altered"
    UNKNOWN = "unknown"
    """It cannot be determined, because something is missing."""
    CONTRADICTED = "contradicted"
    """Something else that was verified contradicts it, such as the votes of a report. It may never have been right."""
    NOT_SIGNED = "not_signed"
    """A key was required, and nobody signed it."""
    OTHER_KEY = "other_key"
    """It is unaltered since it was signed, but not by the key that was required."""
    REVOKED_KEY = "revoked_key"
    """It is unaltered since it was signed, but by a key that was revoked."""
    NOT_TRUSTED = "not_trusted"
    """None of the authorities that were named vouches for it."""


@record
class VerificationFinding:
    part: str
    """What was verified: the report, the votes, the audit log …"""
    standing: VerificationState
    message: str

    @property
    def failed(self) -> bool:
        """Return whether it is not what it should be. What is unknown has not failed."""
        return self.standing not in (VerificationState.HOLDS, VerificationState.UNKNOWN)


def holds(part: str, message: str) -> VerificationFinding:
    return VerificationFinding(part, VerificationState.HOLDS, message)


def altered(part: str, message: str) -> VerificationFinding:
    return VerificationFinding(part, VerificationState.ALTERED, message)


def unknown(part: str, message: str) -> VerificationFinding:
    return VerificationFinding(part, VerificationState.UNKNOWN, message)
