"""Would more runs or more votes make a judged pass rate more precise? By resampling the transcripts. Pure.

The pass rate is one of majority verdicts. Each verdict is pass or fail, so with the probability P of a pass, the
standard error over n runs is sqrt(P (1 - P) / n), whether the agent or the judge makes the verdicts vary. More votes
steady the verdict on each transcript. They change the standard error only as far as they change P.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

from salvo.engine.stats.pass_rates import Interval, clopper_pearson, percentile
from salvo.engine.stats.voting import components_of_counts

RESAMPLES = 1_000
CERTAINTY = 0.95
"""The share of resamples in which a choice must be the better one to be advised."""
_MOST_WORK = 500_000
"""Transcripts drawn in all. With very many transcripts, fewer resamples are enough."""
_FEWEST_RESAMPLES = 200
_SEED = 20_24
MORE_VOTES = 2
"""So that an odd number of votes stays odd."""


class Advice(NamedTuple):
    """Which choice makes the pass rate more precise for the same money, with the standard error of each."""

    better: Literal["runs", "votes"] | None
    """None where nothing varies, or the judgings do not show it."""
    pass_rate: float
    """Of majority verdicts, estimated from all votes."""
    pass_rate_with_votes: float | None
    """The same with two more votes per run: more votes may also move it. None if there are too few votes."""
    error: float
    error_with_runs: float | None
    """None if prices are not known."""
    error_with_votes: float | None


def judge_share_interval(counts: Sequence[tuple[int, int]]) -> Interval | None:
    """Return the 95 % bootstrap interval of the judge's share of the variance of a verdict; None where nothing varies.

    `counts` has the passes and the number of verdicts of each transcript. Transcripts are drawn with replacement. A
    judge that happens to contradict itself nowhere does so in no resample, so the upper end is at least what the exact
    bound on the rate of contradictions allows: two verdicts differ with twice the judge's variance.
    """
    components = components_of_counts(counts)
    if components is None or components.agent is None or components.judge_share is None:
        return None
    flips = sum(0 < passes < size for passes, size in counts)
    possible = (
        clopper_pearson(flips, sum(size > 1 for _, size in counts)).high / 2 / (components.agent + components.judge)
    )
    shares = []
    for draw in _resamples(len(counts)):
        parts = components_of_counts([counts[index] for index in draw])
        share = parts.judge_share if parts else None
        if share is not None:
            shares.append(share)
    low, high = percentile(shares, 2.5), percentile(shares, 97.5)
    return None if low is None or high is None else Interval(low, max(high, min(1.0, possible)))


def more_runs_or_votes(
    votes: Sequence[Sequence[bool]], count: int, run_cost: float | None, vote_cost: float | None
) -> Advice | None:
    """Compare two more votes on each run with more runs for the same money.

    `votes` has all votes on each transcript, `count` of which make a verdict. A run costs `run_cost` and its votes.
    None with fewer than two transcripts that have enough votes.
    """
    rows = [(sum(row), len(row)) for row in votes if len(row) >= count]
    if len(rows) < 2:
        return None
    runs = len(rows)
    now = [majority_chances(*row, count) for row in rows]
    enough = all(size >= count + MORE_VOTES for _, size in rows)
    later = [majority_chances(*row, count + MORE_VOTES) for row in rows] if enough else None
    prices = run_cost is not None and vote_cost is not None and run_cost + vote_cost > 0
    # How many runs the same money buys, to one run with more votes.
    factor = 1.0
    if run_cost is not None and vote_cost is not None and prices:
        factor = (run_cost + (count + MORE_VOTES) * vote_cost) / (run_cost + count * vote_cost)
    every = range(runs)
    rate, rate_later = _rate(now, every), None if later is None else _rate(later, every)
    error = _error(rate, runs)
    return Advice(
        better=_better(now, later, factor if prices else None) if error else None,
        pass_rate=rate,
        pass_rate_with_votes=rate_later,
        error=error,
        error_with_runs=error / math.sqrt(factor) if prices else None,
        error_with_votes=None if rate_later is None else _error(rate_later, runs),
    )


def majority_chances(passes: int, votes: int, count: int) -> tuple[float, float]:
    """Return how likely `count` of these votes, drawn without replacement, pass or fail by a strict majority.

    Both are unbiased estimates for a judge that votes like that. With an even count a tie is neither.
    """
    ways = math.comb(votes, count)
    chances = [math.comb(passes, had) * math.comb(votes - passes, count - had) / ways for had in range(count + 1)]
    return math.fsum(chances[count // 2 + 1 :]), math.fsum(chances[: (count + 1) // 2])


def _better(
    now: Sequence[tuple[float, float]], later: Sequence[tuple[float, float]] | None, factor: float | None
) -> Literal["runs", "votes"] | None:
    """Return the choice that is better in nearly all resamples. Without prices only runs can be."""
    if later is None:
        return None
    votes_help = draws = 0
    for draw in _resamples(len(now)):
        draws += 1
        before, after = (_rate(chances, draw) for chances in (now, later))
        votes_help += after * (1 - after) < before * (1 - before) / (factor or 1.0) - 1e-12
    if votes_help <= (1 - CERTAINTY) * draws:
        return "runs"
    return "votes" if factor is not None and votes_help >= CERTAINTY * draws else None


def _rate(chances: Sequence[tuple[float, float]], draw: Sequence[int]) -> float:
    passed = math.fsum(chances[index][0] for index in draw)
    failed = math.fsum(chances[index][1] for index in draw)
    return passed / (passed + failed) if passed + failed else 0.0


def _error(rate: float, runs: int) -> float:
    # Over one run fewer, because the rate itself is estimated from them.
    return math.sqrt(max(0.0, rate * (1 - rate)) / (runs - 1))


def _resamples(transcripts: int) -> list[list[int]]:
    """Return which transcripts are drawn in each resample: always the same ones, so that a report can be repeated."""
    if not transcripts:
        return []
    chance = random.Random(_SEED)  # noqa: S311 - not a secret
    times = min(RESAMPLES, max(_FEWEST_RESAMPLES, _MOST_WORK // transcripts))
    return [chance.choices(range(transcripts), k=transcripts) for _ in range(times)]
