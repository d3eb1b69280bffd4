"""Combine several votes on one question. Pure. A missing vote (None) does not count for any choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Choice = TypeVar("Choice", bound=Hashable)


def majority(votes: Sequence[Choice | None]) -> Choice | None:
    """Return the choice of more than half of all requested votes, or None.

    Missing votes count in the total, so two of five decide nothing, and a tie is never broken.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return None
    choice, count = counts.most_common(1)[0]
    # With a strict majority there can be only one winner, so the order of most_common does not matter.
    return choice if 2 * count > len(votes) else None


def consistency(votes: Sequence[Choice | None]) -> float | None:
    """Return 1.0 if all votes agree, 0.5 if a strict majority does, else 0.0; None without enough votes.

    Missing votes are left out, and more than half of the requested votes must be there.
    """
    present = [vote for vote in votes if vote is not None]
    if not votes or 2 * len(present) <= len(votes):
        return None
    if len(set(present)) == 1:
        return 1.0
    return 0.5 if majority(present) is not None else 0.0


def agreement(votes: Sequence[Choice | None]) -> float | None:
    """Return the share of pairs of votes that agree; None with fewer than two votes. It is finer than `consistency`."""
    present = [vote for vote in votes if vote is not None]
    pairs = len(present) * (len(present) - 1)
    if not pairs:
        return None
    return sum(count * (count - 1) for count in Counter(present).values()) / pairs
