"""Pass rates: intervals, pass@k and pass^k."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from salvo.engine.stats.beta import at_least, solve_rate


class Tally(NamedTuple):
    """The number of runs, and how many of them passed."""

    passes: int
    runs: int


class Interval(NamedTuple):
    low: float
    high: float


def wilson(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval for a pass rate; 0 to 1 without runs."""
    check_counts(passes, runs)
    check_confidence(confidence)
    if runs == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = passes / runs
    spread = 1 + z * z / runs
    centre = (rate + z * z / (2 * runs)) / spread
    reach = z / spread * math.sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    # At the ends the bound is exactly 0 or 1, which floating point could miss.
    return Interval(
        0.0 if passes == 0 else max(0.0, centre - reach), 1.0 if passes == runs else min(1.0, centre + reach)
    )


def clopper_pearson(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return the exact interval for a pass rate (Clopper & Pearson 1934); 0 to 1 without runs.

    It contains the true rate with at least this confidence, for every rate and any number of runs. Each bound is the
    rate at which a result as extreme as the observed one has the probability (1 - confidence) / 2. The interval is
    wide: its true confidence is mostly above the requested one.
    """
    check_counts(passes, runs)
    check_confidence(confidence)
    return Interval(
        _exact_low(passes, runs, (1 - confidence) / 2), 1 - _exact_low(runs - passes, runs, (1 - confidence) / 2)
    )


def pass_at_k(passes: int, runs: int, k: int) -> float | None:
    """Return the unbiased probability that at least one of k runs passes; None if k exceeds the runs."""
    check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return (math.comb(runs, k) - math.comb(runs - passes, k)) / math.comb(runs, k)


def pass_hat_k(passes: int, runs: int, k: int) -> float | None:
    """Return pass^k, the unbiased probability that all of k runs pass; None if k exceeds the runs."""
    check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return math.comb(passes, k) / math.comb(runs, k)


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")


def check_counts(passes: int, runs: int) -> None:
    if not 0 <= passes <= runs:
        raise ValueError(f"passes must be between 0 and runs, not {passes} of {runs}")


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def _exact_low(passes: int, runs: int, tail: float) -> float:
    """Return the largest rate at which this many passes or more have at most the probability `tail`."""
    if passes == 0:
        return 0.0
    if passes == runs:
        return math.pow(tail, 1 / runs)
    return solve_rate(tail, lambda rate: at_least(passes, runs, rate), passes / runs)
