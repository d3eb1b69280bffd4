"""The interval of the difference between two pass rates."""

from __future__ import annotations

import math

from salvo.engine.stats.rates import Interval, Tally, check_confidence, wilson


def newcombe(a: Tally, b: Tally, confidence: float = 0.95) -> Interval | None:
    """Return the interval of B's pass rate minus A's (Newcombe 1998, Statistics in Medicine 17:873, method 10).

    It combines the Wilson bounds of both rates as independent errors. It stays between -1 and 1, needs no search, and
    its coverage is close to the confidence, also with few runs and for rates near 0 or 1. `exact_p` decides about
    significance: at its edge this interval may or may not contain 0. None where a side has no runs.
    """
    check_confidence(confidence)
    around_a, around_b = wilson(*a, confidence), wilson(*b, confidence)
    if not a.runs or not b.runs:
        return None
    rate_a, rate_b = a.passes / a.runs, b.passes / b.runs
    difference = rate_b - rate_a
    return Interval(
        max(-1.0, difference - math.hypot(rate_b - around_b.low, around_a.high - rate_a)),
        min(1.0, difference + math.hypot(around_b.high - rate_b, rate_a - around_a.low)),
    )
