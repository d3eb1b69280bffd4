"""What a number of runs can show about a pass rate."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from salvo.engine.stats.beta import at_least, where_it_reaches


class Tally(NamedTuple):
    """How many of some runs passed."""

    passes: int
    runs: int


class Interval(NamedTuple):
    low: float
    high: float


def wilson(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a pass rate. No runs say nothing: 0 to 1."""
    check_counts(passes, runs)
    check_confidence(confidence)
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


def clopper_pearson(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """The exact interval for a pass rate (Clopper & Pearson 1934). No runs say nothing: 0 to 1.

    It holds the true rate with at least this confidence, whatever the rate and however few the runs, because each bound
    is the rate at which a result as extreme as the one seen has a chance of just (1 - confidence) / 2. The price is
    width: the true confidence is mostly above the one asked for.
    """
    check_counts(passes, runs)
    check_confidence(confidence)
    return Interval(
        _exact_low(passes, runs, (1 - confidence) / 2), 1 - _exact_low(runs - passes, runs, (1 - confidence) / 2)
    )


def pass_at_k(passes: int, runs: int, k: int) -> float | None:
    """The chance that at least one of k runs passes, without bias; None where k exceeds the runs."""
    check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return (math.comb(runs, k) - math.comb(runs - passes, k)) / math.comb(runs, k)


def pass_hat_k(passes: int, runs: int, k: int) -> float | None:
    """pass^k: the chance that all of k runs pass, without bias; None where k exceeds the runs."""
    check_counts(passes, runs)
    _check_k(k)
    if k > runs:
        return None
    return math.comb(passes, k) / math.comb(runs, k)


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")


def check_counts(passes: int, runs: int) -> None:
    if not 0 <= passes <= runs:
        raise ValueError(f"passes must lie between 0 and runs, not {passes} of {runs}")


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def _exact_low(passes: int, runs: int, tail: float) -> float:
    """The largest rate at which this many passes or more have at most the chance `tail`."""
    if passes == 0:
        return 0.0
    if passes == runs:
        return math.pow(tail, 1 / runs)
    return where_it_reaches(tail, lambda rate: at_least(passes, runs, rate), passes / runs)
