"""Agent or judge: where the variation of verdicts comes from, when the same transcripts are judged several times.

A row holds the verdicts on one transcript, None where a judging gave none. What is missing is left out, never guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from salvo.engine.stats.voting import agreement

Rows = Sequence[Sequence[Hashable | None]]


class Reliability(NamedTuple):
    transcripts: int
    """How many were judged at least twice; the others say nothing here."""
    flip_rate: float | None
    """The share of transcripts on which the judge did not always say the same."""
    agreement: float | None
    """The chance that two judgings of the same transcript agree, averaged over the transcripts."""
    alpha: float | None
    """Krippendorff's: 1 is perfect agreement, 0 what chance would give, below 0 worse; None where all verdicts are
    alike, for then chance explains everything and nothing."""


class Components(NamedTuple):
    """The variance of a single verdict (pass 1, fail 0), by its source."""

    agent: float | None
    """Between transcripts: what remains if each were judged for ever. None where one transcript cannot tell."""
    judge: float
    """Within a transcript: the judge against itself."""

    @property
    def judge_share(self) -> float | None:
        """The judge's share of the whole; None where it cannot be said, or where nothing varies."""
        if self.agent is None or self.agent + self.judge == 0:
            return None
        return self.judge / (self.agent + self.judge)


class Advice(NamedTuple):
    """What the next money is best spent on, and the standard error of the pass rate that each choice leads to."""

    better: Literal["runs", "votes"] | None
    """None where nothing varied, or where it depends on prices that are not known."""
    error: float
    error_with_runs: float | None
    error_with_votes: float


def reliability(rows: Rows) -> Reliability:
    """How well the judge agrees with itself, for verdicts of any kind."""
    judged = [cast for row in rows if len(cast := [verdict for verdict in row if verdict is not None]) >= 2]
    if not judged:
        return Reliability(0, None, None, None)
    shares = [share for row in judged if (share := agreement(row)) is not None]
    flips = sum(len(set(row)) > 1 for row in judged)
    return Reliability(len(judged), flips / len(judged), fmean(shares), _alpha(judged))


def components(rows: Sequence[Sequence[bool | None]]) -> Components | None:
    """Whose variance it is, by one-way analysis with random effects; None where no transcript was judged twice.

    Verdict j on transcript i is pass rate + agent's deviation i + judge's deviation ij. The mean square within
    transcripts estimates the judge's variance, and that between them, less the judge's part in it, the agent's (Searle,
    Casella & McCulloch 1992, ch. 3, for unequal numbers of verdicts). An estimate below 0 is chance, and is set to 0.
    Where a judging takes several votes, give the votes: then the judge's variance is that of one vote.
    """
    judged = [cast for row in rows if (cast := [verdict for verdict in row if verdict is not None])]
    verdicts = sum(map(len, judged))
    repeats = verdicts - len(judged)
    if not repeats:
        return None
    within = sum(sum(row) * (len(row) - sum(row)) / len(row) for row in judged) / repeats
    if len(judged) < 2:
        return Components(None, within)
    overall = sum(map(sum, judged)) / verdicts
    between = sum(len(row) * (fmean(row) - overall) ** 2 for row in judged) / (len(judged) - 1)
    typical = (verdicts - sum(len(row) ** 2 for row in judged) / verdicts) / (len(judged) - 1)
    return Components(max(0.0, (between - within) / typical), within)


def standard_error(agent: float, judge: float, runs: float, votes: int) -> float:
    """Of the mean verdict over `runs` transcripts with `votes` verdicts each.

    More runs divide both parts, more votes the judge's alone: below sqrt(agent / runs) no number of votes leads.
    """
    return math.sqrt((agent + judge / votes) / runs)


def more_runs_or_votes(
    found: Components, runs: int, votes: int, run_cost: float | None, vote_cost: float | None
) -> Advice | None:
    """Two more votes on each run, or more runs for the same money? None where the agent's part is not known.

    Two, so that an odd number stays odd. A run costs the agent's part (`run_cost`) and its votes. The error is that of
    the mean of all votes, which a majority of them follows only roughly: a guide to spending, not a promise.
    """
    if found.agent is None:
        return None
    now = standard_error(found.agent, found.judge, runs, votes)
    with_votes = standard_error(found.agent, found.judge, runs, votes + 2)
    if run_cost is None or vote_cost is None or run_cost + vote_cost <= 0:
        return Advice(_better_at_any_price(found), now, None, with_votes)
    affordable = runs * (run_cost + (votes + 2) * vote_cost) / (run_cost + votes * vote_cost)
    with_runs = standard_error(found.agent, found.judge, affordable, votes)
    better: Literal["runs", "votes"] = "votes" if with_votes < with_runs else "runs"
    return Advice(better if now else None, now, with_runs, with_votes)


def _better_at_any_price(found: Components) -> Literal["runs", "votes"] | None:
    """Where one side alone varies: votes cannot mend the agent, and against the judge they are cheaper than runs."""
    if found.judge == 0:
        return "runs" if found.agent else None
    return None if found.agent else "votes"


def _alpha(judged: Sequence[Sequence[Hashable]]) -> float | None:
    """1 - disagreement seen / disagreement by chance, for nominal data (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability").

    Seen: the pairs of unlike verdicts within transcripts, each weighted by 1 / (verdicts on it - 1). By chance: the
    pairs of unlike verdicts over all transcripts together, over their number less one.
    """
    totals = Counter(verdict for row in judged for verdict in row)
    verdicts = totals.total()
    by_chance = _unlike_pairs(totals) / (verdicts - 1)
    if not by_chance:
        return None
    return 1 - sum(_unlike_pairs(Counter(row)) / (len(row) - 1) for row in judged) / by_chance


def _unlike_pairs(counts: Counter[Hashable]) -> int:
    """Ordered pairs of verdicts that differ."""
    return counts.total() ** 2 - sum(count * count for count in counts.values())
