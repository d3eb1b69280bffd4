"""By how much two pass rates differ."""

from __future__ import annotations

import math

from salvo.engine.stats.rates import Interval, Tally, check_confidence, wilson


def newcombe(a: Tally, b: Tally, confidence: float = 0.95) -> Interval | None:
    """The interval of B's pass rate less A's (Newcombe 1998, Statistics in Medicine 17:873, method 10).

    Each rate's own Wilson bounds say how far it may lie on either side, and the two add as independent errors do. It
    stays between -1 and 1, needs no search, and holds the true difference about as often as it says, with few runs and
    rates near 0 or 1 too. About: `exact_p` decides, and on the edge of significance the interval may just hold 0, or
    just not. None where a side has no runs.
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
