"""Which differences a comparison would have detected. The test is that of `exact_p`."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

from salvo.engine.stats.beta import at_least, log_choose
from salvo.engine.stats.exact_test import fisher, fisher_threshold
from salvo.engine.stats.pass_rates import Tally, check_counts

POWER = 0.8
"""A visible difference would be detected in this share of cases: 8 of 10."""
_POINTS = 100
_SPREAD = 5.0
"""Standard deviations of side A's passes that are summed. The rest has a probability below 1e-6."""


@lru_cache(maxsize=4096)
def visible_drop(a: Tally, runs_b: int, alpha: float) -> float | None:
    """Return the smallest drop, in whole percentage points, that would be detected in 8 of 10 cases.

    It is a drop of B's true pass rate from A's, where A's true rate is the observed one, and both sides vary by chance.
    Detected means that `exact_p` is at most alpha, and B worse. The probability is computed exactly, for whole points,
    so the result is rounded up. None where even a drop to 0 would be detected less often.
    """
    check_counts(*a)
    if not a.runs or not runs_b or not a.passes:
        return None
    rate = a.passes / a.runs
    limits = _limits(a, runs_b, fisher_threshold(runs_b, a.runs, alpha / 2))
    possible = range(1, math.ceil(rate * _POINTS) + 1)

    def is_visible(drop: int) -> bool:
        return _chance_of_detection(limits, runs_b, max(0.0, rate - drop / _POINTS)) >= POWER

    smallest = bisect_left(possible, True, key=is_visible)  # a larger drop is detected more often
    return None if smallest == len(possible) else possible[smallest] / _POINTS


def visible_rise(a: Tally, runs_b: int, alpha: float) -> float | None:
    """Return the smallest rise that would be detected in 8 of 10 cases: it is a drop of the failures."""
    return visible_drop(Tally(a.runs - a.passes, a.runs), runs_b, alpha)


def _limits(a: Tally, runs_b: int, threshold: float) -> dict[int, float]:
    """Return the most passes of B for which B is detected as worse, each with the probability of A's passes for it."""
    rate = a.passes / a.runs
    reach = _SPREAD * math.sqrt(a.runs * rate * (1 - rate)) + 1
    first, last = max(0, math.floor(a.passes - reach)), min(a.runs, math.ceil(a.passes + reach))

    def is_detected(passes_a: int, passes_b: int) -> bool:
        is_worse = passes_b * a.runs < passes_a * runs_b
        return is_worse and fisher(passes_b, runs_b, passes_a, a.runs, threshold) <= threshold

    limits: dict[int, float] = {}
    most = bisect_left(range(runs_b + 1), True, key=lambda passes_b: not is_detected(first, passes_b)) - 1
    for passes in range(first, last + 1):
        while most < runs_b and is_detected(passes, most + 1):  # more passes of A allow at least as many of B
            most += 1
        limits[most] = limits.get(most, 0.0) + _chance(passes, a.runs, rate)
    limits.pop(-1, None)
    return limits


def _chance(passes: int, runs: int, rate: float) -> float:
    if rate in (0.0, 1.0):
        return float(passes == runs * rate)
    return math.exp(log_choose(runs, passes) + passes * math.log(rate) + (runs - passes) * math.log1p(-rate))


def _chance_of_detection(limits: dict[int, float], runs_b: int, rate: float) -> float:
    """Return the probability that B, with this true rate, has at most as many passes as A's passes allow."""
    if not limits:
        return 0.0
    if rate == 0:
        return math.fsum(limits.values())
    lowest = min(limits)
    at_most = 1 - at_least(lowest + 1, runs_b, rate)
    total, term = limits[lowest] * at_most, _chance(lowest, runs_b, rate)
    for passes in range(lowest + 1, max(limits) + 1):  # one more pass at a time, from the probability of the last
        term *= (runs_b - passes + 1) / passes * rate / (1 - rate)
        at_most += term
        total += limits.get(passes, 0.0) * at_most
    return total
