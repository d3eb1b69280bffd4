"""What several votes on one question add up to. Pure. A missing vote (None) is never a vote for anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Choice = TypeVar("Choice", bound=Hashable)


def majority(votes: Sequence[Choice | None]) -> Choice | None:
    """The choice that more than half of all votes asked for agree on, or None.

    Missing votes count in the whole, so two of five who answered decide nothing, and a tie is never broken.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return None
    choice, count = counts.most_common(1)[0]
    # With a strict majority there can be only one winner, so the order of most_common does not matter.
    return choice if 2 * count > len(votes) else None


def consistency(votes: Sequence[Choice | None]) -> float | None:
    """1.0 where all agree, 0.5 where a strict majority does, 0.0 otherwise; None without enough votes.

    It looks at the votes that were cast; where those are no majority of those asked for, it cannot be said.
    """
    cast = [vote for vote in votes if vote is not None]
    if not votes or 2 * len(cast) <= len(votes):
        return None
    if len(set(cast)) == 1:
        return 1.0
    return 0.5 if majority(cast) is not None else 0.0


def agreement(votes: Sequence[Choice | None]) -> float | None:
    """The share of pairs of cast votes that agree: finer than `consistency`, and None with fewer than two."""
    cast = [vote for vote in votes if vote is not None]
    pairs = len(cast) * (len(cast) - 1)
    if not pairs:
        return None
    return sum(count * (count - 1) for count in Counter(cast).values()) / pairs
