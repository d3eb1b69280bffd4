"""Do two sides of runs differ, or is it luck? The test, and the smallest difference it could have shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from salvo.engine.stats.beta import log_choose
from salvo.engine.stats.rates import Tally, check_counts

MOST_FOR_BOSCHLOO = 400
"""Runs of both sides together; beyond it Fisher's own p-value stands."""

# Results whose Fisher p-values differ only by rounding are equally extreme. Counting one too many raises the p-value.
_SAME = 1 + 1e-9


def exact_p(a: Tally, b: Tally) -> float | None:
    """The two-sided p-value of "both sides have the same pass rate"; None where a side has no runs.

    Boschloo's exact unconditional test (Boschloo 1970, Statistica Neerlandica 24:1): Fisher's one-sided p-value orders
    the possible results, and the p-value is the chance of one at least as extreme as that seen, at the common pass
    rate for which this chance is greatest. So it errs at most as often as it says, at every pass rate, as Fisher's test
    does; but it is never above Fisher's, and with few runs far below it: 4 of 10 against 9 of 10 has p = 0.023 here and
    0.057 there. Fisher's mid-p has that power too, but may err more often than it says. Two-sided is twice the p-value
    of the side seen, so that "B is worse" is wrong at most alpha / 2 of the time.

    Beyond MOST_FOR_BOSCHLOO runs the gain is small and the search slow, and Fisher's p-value is given. The choice
    depends on the numbers of runs alone, never on their results, so it costs nothing in error.
    """
    check_counts(*a)
    check_counts(*b)
    if not a.runs or not b.runs:
        return None
    if _same_rate(a, b):
        return 1.0
    worse, better = (a, b) if a.passes * b.runs < b.passes * a.runs else (b, a)
    return min(1.0, 2 * _one_sided(worse, better))


def smallest_visible_difference(a: Tally, runs_b: int, alpha: float) -> float | None:
    """The smallest difference of pass rates that this test could have seen, given what side A did.

    Precisely: the smallest |B's pass rate - A's| over all the results B's runs could have had for which
    `exact_p <= alpha`. Every smaller difference, in either direction, would have passed for luck. None where no
    result of B's would have been enough. It speaks of the difference observed, so a true difference of that size is
    seen only about half of the time.
    """
    check_counts(*a)
    if not a.runs or not runs_b:
        return None
    # What B can do above A, B's failures can do above A's failures.
    mirrored = Tally(a.runs - a.passes, a.runs)
    reaches = [reach for side in (a, mirrored) if (reach := _smallest_rise(side, runs_b, alpha)) is not None]
    return min(reaches, default=None)


def _smallest_rise(a: Tally, runs_b: int, alpha: float) -> float | None:
    """The smallest visible difference upward. More passes of B only strengthen the evidence, so one bound suffices."""
    first = a.passes * runs_b // a.runs + 1  # the fewest passes with a rate above A's
    found, unseen = runs_b + 1, first - 1
    while found - unseen > 1:  # Fisher's p-value is quick and never below ours: it bounds the search from above
        middle = (found + unseen) // 2
        if 2 * _fisher(a.passes, a.runs, middle, runs_b) <= alpha:
            found = middle
        else:
            unseen = middle
    while found > first and 2 * _one_sided(a, Tally(found - 1, runs_b)) <= alpha:
        found -= 1
    return None if found > runs_b else (found * a.runs - a.passes * runs_b) / (runs_b * a.runs)


def _same_rate(a: Tally, b: Tally) -> bool:
    return a.passes * b.runs == b.passes * a.runs


@lru_cache(maxsize=4096)
def _one_sided(worse: Tally, better: Tally) -> float:
    """The p-value of "the better side is no better"."""
    fisher = _fisher(worse.passes, worse.runs, better.passes, better.runs)
    if worse.runs + better.runs > MOST_FOR_BOSCHLOO:
        return fisher
    return min(fisher, _largest(_chance_of_region(worse.runs, better.runs, fisher * _SAME), worse.runs + better.runs))


def _fisher(worse: int, worse_runs: int, better: int, better_runs: int, enough: float = math.inf) -> float:
    """Fisher's one-sided p-value: the chance that the better side has so many of all the passes, or more.

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
    """The chance of a result whose Fisher p-value is at most the bar, as a function of the angle asin(sqrt(rate)).

    The region is a staircase: where the worse side passes once more, the better side must pass at least as often as
    before. Walking along it asks for one p-value a step instead of one a result.
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
        tails = []  # from the most passes downward: the chance of so many or more
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
    """The greatest value over all pass rates.

    In the angle the results have the same spread, 1 / (2 sqrt(runs)), at every pass rate, and the chance cannot change
    much within a small part of it. So an even grid finer than that sees every peak, and each is then climbed.
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
    return max(best, *(_climb(chance, (step - 1) * width, (step + 1) * width) for step in peaks))


def _climb(chance: Callable[[float], float], low: float, high: float) -> float:
    """The height of the peak between two angles, by golden section; near a peak, errors of the angle hardly matter."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = chance(left), chance(right)
    for _ in range(14):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = chance(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = chance(left)
    return max(at_left, at_right)
