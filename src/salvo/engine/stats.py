"""What a number of runs can show. Pure, and exact where integers allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    low: float
    high: float


def wilson(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a pass rate. No runs say nothing: 0 to 1."""
    _check_counts(passes, runs)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    if runs == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = passes / runs
    spread = 1 + z * z / runs
    centre = (rate + z * z / (2 * runs)) / spread
    reach = z / spread * math.sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    # At the ends the bound is exact in theory; floating point must not leave 0.9999999 there.
    return Interval(
        0.0 if passes == 0 else max(0.0, centre - reach), 1.0 if passes == runs else min(1.0, centre + reach)
    )


def pass_at_k(passes: int, runs: int, k: int) -> float | None:
    """The chance that at least one of k runs passes, without bias; None where k exceeds the runs."""
    _check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return (math.comb(runs, k) - math.comb(runs - passes, k)) / math.comb(runs, k)


def pass_hat_k(passes: int, runs: int, k: int) -> float | None:
    """pass^k: the chance that all of k runs pass, without bias; None where k exceeds the runs."""
    _check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return math.comb(passes, k) / math.comb(runs, k)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The percentile, interpolated between neighbours and so never outside the data; None without data."""
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must lie between 0 and 100, not {percent}")
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    share = position - below
    if share == 0 or low == high:
        return float(low)  # also where a neighbour is infinite, and cannot be weighed
    # Rounding may carry an interpolated value past its neighbour; the data's range is a promise.
    return min(max(low * (1 - share) + high * share, low), high)


def _check_counts(passes: int, runs: int) -> None:
    if not 0 <= passes <= runs:
        raise ValueError(f"passes must lie between 0 and runs, not {passes} of {runs}")


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
