"""Combine several votes on one question, and measure how far a judge's verdicts can be relied on. Pure.

A missing vote or verdict is None; it does not count for any choice. Where the same transcripts are judged several
times, a row has the verdicts on one transcript. They show whether verdicts vary because of the agent or the judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import NamedTuple, TypeVar

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


class Reliability(NamedTuple):
    transcripts: int
    """How many transcripts were judged at least twice; only those count."""
    flip_rate: float | None
    """The share of transcripts with different verdicts."""
    agreement: float | None
    """The probability that two judgements of a transcript agree, averaged over the transcripts."""
    alpha: float | None
    """Krippendorff's alpha: 1 is perfect agreement, 0 is agreement by chance; not defined (None) if all verdicts are
    equal."""


class Components(NamedTuple):
    """The variance of a single verdict (pass 1, fail 0), by its source."""

    agent: float | None
    """Between transcripts, without the judge's part. None where there is only one transcript."""
    judge: float
    """Within a transcript."""

    @property
    def judge_share(self) -> float | None:
        """The judge's share of the variance; None where it is unknown, or where nothing varies."""
        if self.agent is None or self.agent + self.judge == 0:
            return None
        return self.judge / (self.agent + self.judge)


def reliability(rows: Sequence[Sequence[Hashable | None]]) -> Reliability:
    """Return how well the judge agrees with itself, for verdicts of any type."""
    repeated = [row for row in _without_missing(rows) if len(row) >= 2]
    if not repeated:
        return Reliability(0, None, None, None)
    shares = [share for row in repeated if (share := agreement(row)) is not None]
    flips = sum(len(set(row)) > 1 for row in repeated)
    return Reliability(len(repeated), flips / len(repeated), fmean(shares), _alpha(repeated))


def components(rows: Sequence[Sequence[bool | None]]) -> Components | None:
    """Return the variance components of a one-way random-effects model; None where no transcript was judged twice.

    Verdict j on transcript i is pass rate + agent's deviation i + judge's deviation ij. The mean square within
    transcripts estimates the judge's variance, and the mean square between them, minus the judge's part, the agent's
    (Searle, Casella & McCulloch 1992, ch. 3, for unequal numbers of verdicts). A negative estimate is set to 0.
    """
    return components_of_counts([(sum(row), len(row)) for row in _without_missing(rows) if row])


def components_of_counts(counts: Sequence[tuple[int, int]]) -> Components | None:
    """Return the same from the passes and the number of verdicts of each transcript."""
    verdicts = sum(size for _, size in counts)
    repeats = verdicts - len(counts)
    if not repeats:
        return None
    within = sum(passes * (size - passes) / size for passes, size in counts) / repeats
    if len(counts) < 2:
        return Components(None, within)
    overall = sum(passes for passes, _ in counts) / verdicts
    between = sum(size * (passes / size - overall) ** 2 for passes, size in counts) / (len(counts) - 1)
    typical = (verdicts - sum(size**2 for _, size in counts) / verdicts) / (len(counts) - 1)
    return Components(max(0.0, (between - within) / typical), within)


def _without_missing(rows: Sequence[Sequence[Choice | None]]) -> list[list[Choice]]:
    return [[verdict for verdict in row if verdict is not None] for row in rows]


def _alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's alpha for nominal data (2011, "Computing Krippendorff's Alpha-Reliability").

    It is 1 - observed disagreement / disagreement by chance. Observed: the pairs of different verdicts within
    transcripts, each weighted by 1 / (verdicts on it - 1). By chance: the pairs of different verdicts over all
    transcripts together, divided by their number minus one.
    """
    totals = Counter(verdict for row in units for verdict in row)
    verdicts = totals.total()
    by_chance = _unlike_pairs(totals) / (verdicts - 1)
    if not by_chance:
        return None
    return 1 - sum(_unlike_pairs(Counter(row)) / (len(row) - 1) for row in units) / by_chance


def _unlike_pairs(counts: Counter[Hashable]) -> int:
    """Return the number of ordered pairs of different verdicts."""
    return counts.total() ** 2 - sum(count * count for count in counts.values())
