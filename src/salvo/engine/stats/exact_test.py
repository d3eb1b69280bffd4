"""Test whether two sides of runs differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from salvo.engine.stats.beta import at_least, largest_small, log_choose
from salvo.engine.stats.pass_rates import Interval, Tally, check_counts, clopper_pearson

MAX_RUNS_FOR_BOSCHLOO = 400
"""The limit for the runs of both sides together. Beyond it Fisher's p-value is used."""

# Results whose Fisher p-values differ only by rounding are equally extreme. Counting one too many raises the p-value.
_SAME = 1 + 1e-9

_STEPS = 8
"""Halvings of the range in which a threshold is searched."""


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


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p-value of "both sides pass equally often" for paired runs (McNemar 1947).

    Only pairs in which one side passes and the other does not tell the sides apart. If they are equal, each of these
    pairs is as likely one way as the other.
    """
    return min(1.0, 2 * at_least(max(only_a, only_b), only_a + only_b, 0.5))


def mcnemar_interval(only_a: int, only_b: int, pairs: int, confidence: float = 0.95) -> Interval | None:
    """Return the interval of B's pass rate minus A's over paired runs, given how many pairs differ; None without pairs.

    The difference is that of two shares of the pairs: those in which only B passes, and those in which only A does.
    Their exact intervals are combined with the correlation of the two shares (MOVER: Zou & Donner 2008, Statistics in
    Medicine 27:1693). So pairs that all agree do not show a difference of 0, but only that it is small. With few pairs
    that is too narrow at times; it contains 0 wherever `mcnemar_p` does not rule it out.
    """
    if not pairs:
        return None
    share_a, share_b = only_a / pairs, only_b / pairs
    interval_a, interval_b = clopper_pearson(only_a, pairs, confidence), clopper_pearson(only_b, pairs, confidence)
    spread = share_a * (1 - share_a) * share_b * (1 - share_b)
    correlation = -share_a * share_b / math.sqrt(spread) if spread else 0.0

    def distance(margin_a: float, margin_b: float) -> float:
        return math.sqrt(margin_a**2 + margin_b**2 - 2 * correlation * margin_a * margin_b)

    difference = share_b - share_a
    low = max(-1.0, difference - distance(interval_a.high - share_a, share_b - interval_b.low))
    high = min(1.0, difference + distance(share_a - interval_a.low, interval_b.high - share_b))
    if mcnemar_p(only_a, only_b) > 1 - confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(low, high)


@lru_cache(maxsize=256)
def fisher_threshold(worse_runs: int, better_runs: int, alpha: float) -> float:
    """Return a one-sided p-value of Fisher up to which the p-value of this module is at most alpha.

    There is a largest one, and this is within 1 % of it. Beyond MAX_RUNS_FOR_BOSCHLOO runs it is alpha itself.
    """
    if worse_runs + better_runs > MAX_RUNS_FOR_BOSCHLOO:
        return alpha
    runs = worse_runs + better_runs
    smallest = fisher(0, worse_runs, better_runs, better_runs)

    def is_small(threshold: float) -> bool:
        return threshold < smallest or _largest(_chance_of_region(worse_runs, better_runs, threshold), runs) <= alpha

    return largest_small(alpha, min(1.0, 6 * alpha), is_small, _STEPS)


@lru_cache(maxsize=4096)
def _one_sided(worse: Tally, better: Tally) -> float:
    """Return the p-value of "the better side is not better"."""
    fisher_p = fisher(worse.passes, worse.runs, better.passes, better.runs)
    if worse.runs + better.runs > MAX_RUNS_FOR_BOSCHLOO:
        return fisher_p
    return min(
        fisher_p, _largest(_chance_of_region(worse.runs, better.runs, fisher_p * _SAME), worse.runs + better.runs)
    )


def fisher(worse: int, worse_runs: int, better: int, better_runs: int, enough: float = math.inf) -> float:
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
        while better <= better_runs and fisher(worse, worse_runs, better, better_runs, bar) > bar:
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
