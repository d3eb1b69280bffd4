"""What a sign-off signs, as a hash. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.review.events import ReviewAction, ReviewEvent

_NOT_SIGNED = frozenset({ReviewAction.SIGN_OFF, ReviewAction.ASSIGN})
"""Neither another sign-off nor who should look at a check changes what a reviewer signed."""


def state_hash(report_hash: str | None, events: Sequence[ReviewEvent]) -> str:
    """Return the hash of what a sign-off signs: the report and every decision and comment on it so far."""
    by_id = {event.event_id: event for event in events}
    signed = [_signed_fields(event) for event in events if is_signed(event, by_id)]
    return sha256(canonical({"report_hash": report_hash, "events": signed}))


def is_signed(event: ReviewEvent, by_id: Mapping[str, ReviewEvent]) -> bool:
    """Return whether a sign-off signs the event; `by_id` has all events of the report."""
    target = by_id.get(event.target or "", event)
    return event.action not in _NOT_SIGNED and target.action not in _NOT_SIGNED


def _signed_fields(event: ReviewEvent) -> dict[str, object]:
    """Return all fields but the reason itself, which its hash stands for: erasing it changes nothing that was signed.

    The number of an event is left out: it counts sign-offs and assignments, too. So is what its writer had seen.
    """
    fields = asdict(event)
    return {name: value for name, value in fields.items() if name not in ("reason", "sequence", "seen")}
