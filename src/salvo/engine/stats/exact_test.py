"""Test whether two sides of runs differ, and compute the smallest difference that the test could have shown."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

from salvo.engine.stats.beta import log_choose
from salvo.engine.stats.rates import Tally, check_counts

MAX_RUNS_FOR_BOSCHLOO = 400
"""The limit for the runs of both sides together. Beyond it Fisher's p-value is used."""

# Results whose Fisher p-values differ only by rounding are equally extreme. Counting one too many raises the p-value.
_SAME = 1 + 1e-9


def exact_p(a: Tally, b: Tally) -> float | None:
    """Return the two-sided p-value of "both sides have the same pass rate"; None where a side has no runs.

    This is Boschloo's exact unconditional test (Boschloo 1970, Statistica Neerlandica 24:1). Fisher's one-sided p-value
    orders the possible results, and the p-value is the probability of a result at least as extreme as the observed one,
    at the common pass rate for which this probability is greatest. Like Fisher's test it keeps its error rate at every
    pass rate. Its p-value is never above Fisher's, and far below it with few runs: for 4 of 10 against 9 of 10 it is
    0.023 instead of 0.057. Fisher's mid-p is as powerful, but may exceed its error rate. The two-sided p-value is twice
    that of the observed side, so that "B is worse" is wrong at most alpha / 2 of the time.

    Beyond MAX_RUNS_FOR_BOSCHLOO runs the gain is small and the search slow, and Fisher's p-value is returned. The
    choice depends only on the numbers of runs, never on their results, so it does not affect the error rate.
    """
    check_counts(*a)
    check_counts(*b)
    if not a.runs or not b.runs:
        return None
    if a.passes * b.runs == b.passes * a.runs:
        return 1.0
    worse, better = (a, b) if a.passes * b.runs < b.passes * a.runs else (b, a)
    return min(1.0, 2 * _one_sided(worse, better))


def smallest_visible_difference(a: Tally, runs_b: int, alpha: float) -> float | None:
    """Return the smallest difference of pass rates that this test could have detected, given the result of side A.

    It is the smallest |B's pass rate - A's| over all possible results of B with `exact_p <= alpha`. Every smaller
    difference, in either direction, would not have been significant. None where no result of B would have been
    significant. This is about the observed difference: a true difference of that size is detected only about half of
    the time.
    """
    check_counts(*a)
    if not a.runs or not runs_b:
        return None
    # A fall of B is a rise of its failures.
    mirrored = Tally(a.runs - a.passes, a.runs)
    reaches = [reach for side in (a, mirrored) if (reach := _smallest_rise(side, runs_b, alpha)) is not None]
    return min(reaches, default=None)


def _smallest_rise(a: Tally, runs_b: int, alpha: float) -> float | None:
    """Return the smallest visible rise. More passes of B only strengthen the evidence, so a binary search works."""
    first = a.passes * runs_b // a.runs + 1  # the fewest passes with a rate above A's

    def fisher_sees(passes: int) -> bool:  # it is quick and its p-value never below ours, so it gives an upper bound
        return 2 * _fisher(a.passes, a.runs, passes, runs_b) <= alpha

    visible = bisect_left(range(runs_b + 1), True, lo=first, key=fisher_sees)
    while visible > first and 2 * _one_sided(a, Tally(visible - 1, runs_b)) <= alpha:
        visible -= 1
    return None if visible > runs_b else (visible * a.runs - a.passes * runs_b) / (runs_b * a.runs)


@lru_cache(maxsize=4096)
def _one_sided(worse: Tally, better: Tally) -> float:
    """Return the p-value of "the better side is not better"."""
    fisher = _fisher(worse.passes, worse.runs, better.passes, better.runs)
    if worse.runs + better.runs > MAX_RUNS_FOR_BOSCHLOO:
        return fisher
    return min(fisher, _largest(_chance_of_region(worse.runs, better.runs, fisher * _SAME), worse.runs + better.runs))


def _fisher(worse: int, worse_runs: int, better: int, better_runs: int, enough: float = math.inf) -> float:
    """Return Fisher's one-sided p-value: the probability that the better side has this many of all passes, or more.

    The sum stops early once it is above `enough`.
    """
    passes = worse + better
    term = math.exp(
        log_choose(better_runs, better) + log_choose(worse_runs, worse) - log_choose(worse_runs + better_runs, passes)
    )
    total = term
    for had in range(better, min(better_runs, passes)):
        term *= (better_runs - had) * (passes - had) / ((had + 1) * (worse_runs - passes + had + 1))
        total += term
        if total > enough or term < total * 1e-17:
            break
    return min(1.0, total)


def _chance_of_region(worse_runs: int, better_runs: int, bar: float) -> Callable[[float], float]:
    """Return the probability of a result whose Fisher p-value is at most `bar`, as a function of asin(sqrt(rate)).

    The region is a staircase: if the worse side passes once more, the better side must pass at least as often as
    before. Walking along it takes one p-value per step instead of one per result.
    """
    stairs = []  # for 0, 1, 2 ... passes of the worse side, the fewest passes of the better side that are in the region
    better = 0
    for worse in range(worse_runs + 1):
        while better <= better_runs and _fisher(worse, worse_runs, better, better_runs, bar) > bar:
            better += 1
        if better > better_runs:
            break
        stairs.append(better)
    ways_worse = [log_choose(worse_runs, passes) for passes in range(len(stairs))]
    ways_better = [log_choose(better_runs, passes) for passes in range(better_runs + 1)]

    def chance(angle: float) -> float:
        log_pass, log_fail = 2 * math.log(math.sin(angle)), 2 * math.log(math.cos(angle))
        tails = []  # the probability of this many passes or more, from the most passes downward
        total = 0.0
        for passes in range(better_runs, stairs[0] - 1, -1):
            total += math.exp(ways_better[passes] + passes * log_pass + (better_runs - passes) * log_fail)
            tails.append(total)
        return sum(
            math.exp(ways + passes * log_pass + (worse_runs - passes) * log_fail) * tails[better_runs - stairs[passes]]
            for passes, ways in enumerate(ways_worse)
        )

    return chance


def _largest(chance: Callable[[float], float], runs: int) -> float:
    """Return the greatest value over all pass rates.

    In terms of the angle, results have the same spread, 1 / (2 sqrt(runs)), at every pass rate, and the probability
    changes little within a small part of it. So a finer even grid finds every peak, and each peak is then refined.
    """
    steps = 40 + math.ceil(8 * math.sqrt(runs))
    width = math.pi / 2 / steps
    heights = [0.0, *(chance(step * width) for step in range(1, steps)), 0.0]
    best = max(heights)
    peaks = [
        step
        for step in range(1, steps)
        if heights[step - 1] <= heights[step] >= heights[step + 1] and heights[step] > 0.9 * best
    ]
    return max(best, *(_peak_height(chance, (step - 1) * width, (step + 1) * width) for step in peaks))


def _peak_height(chance: Callable[[float], float], low: float, high: float) -> float:
    """Return the height of the peak between two angles, by golden-section search."""
    golden = (math.sqrt(5) - 1) / 2
    lower, upper = high - golden * (high - low), low + golden * (high - low)
    at_lower, at_upper = chance(lower), chance(upper)
    for _ in range(14):
        if at_lower < at_upper:
            low, lower, at_lower = lower, upper, at_upper
            upper = low + golden * (high - low)
            at_upper = chance(upper)
        else:
            high, upper, at_upper = upper, lower, at_lower
            lower = high - golden * (high - low)
            at_lower = chance(lower)
    return max(at_lower, at_upper)
