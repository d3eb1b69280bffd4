"""Figures of a set of runs: pass rates with their intervals, pass^k, and percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from salvo.engine.stats.beta import at_least, beta_cdf, log_beta, solve_rate


class Tally(NamedTuple):
    """The number of runs, and how many of them passed."""

    passes: int
    runs: int


class Interval(NamedTuple):
    low: float
    high: float


def wilson(passes: float, runs: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval for a pass rate; 0 to 1 without runs. The numbers may be effective ones."""
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
    tail = (1 - confidence) / 2
    return Interval(_exact_low(passes, runs, tail), 1 - _exact_low(runs - passes, runs, tail))


def confidence_sequence(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """Return an interval for a pass rate that is valid after every run at once, with at least this confidence.

    The confidence of `clopper_pearson` holds for a number of runs that was fixed beforehand. Computing it after each
    run and stopping at the first settled result would be wrong far more often. Here the probability that the interval
    *ever* misses the true rate, after any number of runs, is at most 1 - confidence. So one may stop, continue or
    resume at any time.

    The method is Robbins' mixture martingale (Robbins 1970, Ann. Math. Statist. 41:1397) in its one-sided
    beta-binomial form (Howard, Ramdas, McAuliffe & Sekhon 2021, Ann. Statist. 49:1055). For a rate p, let M be the
    likelihood of the runs averaged over the rates above p, divided by their likelihood at p. If p is the true rate, M
    starts at 1 and is a martingale, so by Ville's inequality the probability that it ever reaches 2 / alpha is at most
    alpha / 2. The lower bound is the largest p for which it has; the upper bound is the same for failures. The average
    is weighted by Jeffreys' prior, beta(1/2, 1/2), cut off at p. It has mass near 1, where good agents are, and settles
    an agent without failures after 44 runs (uniform weights: 51; two-sided: 53), where 36 planned runs would be enough
    (rate 0.9, confidence 95 %).

    It depends only on the counts, not on their order, so stored counts are enough to resume.
    """
    check_counts(passes, runs)
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    return Interval(_sequence_low(passes, runs, tail), 1 - _sequence_low(runs - passes, runs, tail))


def newcombe(a: Tally, b: Tally, confidence: float = 0.95) -> Interval | None:
    """Return the interval of B's pass rate minus A's (Newcombe 1998, Statistics in Medicine 17:873, method 10).

    It combines the Wilson bounds of both rates as independent errors. It stays between -1 and 1, needs no search, and
    its coverage is close to the confidence, also with few runs and for rates near 0 or 1. `exact_p` decides about
    significance: at its edge this interval may or may not contain 0. None where a side has no runs.
    """
    around_a, around_b = wilson(*a, confidence), wilson(*b, confidence)
    if not a.runs or not b.runs:
        return None
    rate_a, rate_b = a.passes / a.runs, b.passes / b.runs
    difference = rate_b - rate_a
    return Interval(
        max(-1.0, difference - math.hypot(rate_b - around_b.low, around_a.high - rate_a)),
        min(1.0, difference + math.hypot(around_b.high - rate_b, rate_a - around_a.low)),
    )


def pass_hat_k(passes: int, runs: int, k: int) -> float | None:
    """Return pass^k, the unbiased probability that all of k runs pass; None if k exceeds the runs."""
    check_counts(passes, runs)
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if k > runs:
        return None
    return math.comb(passes, k) / math.comb(runs, k)


def pass_at_k(passes: int, runs: int, k: int) -> float | None:
    """Return pass@k, the unbiased probability that at least one of k runs passes; None if k exceeds the runs."""
    none_passes = pass_hat_k(runs - passes, runs, k)
    return None if none_passes is None else 1 - none_passes


class ChancesOfK(NamedTuple):
    """pass^k and pass@k with their intervals."""

    all_pass: float
    all_pass_interval: Interval
    any_passes: float
    any_passes_interval: Interval


def chances_of_k(tally: Tally, k: int, bounds: Interval, rate: float | None = None) -> ChancesOfK:
    """Return the chances that all of k runs pass, and that one does; `bounds` are those of the pass rate.

    They rise with the pass rate, so its bounds give theirs, with the same confidence. Without a `rate` the estimates
    are unbiased for a fixed number of runs. `rate` is the one to use if their number depends on their results.
    """
    low, high = bounds
    if rate is None:
        all_pass, any_passes = pass_hat_k(*tally, k), pass_at_k(*tally, k)
        if all_pass is None or any_passes is None:
            raise ValueError(f"k must be at most the number of runs, not {k} of {tally.runs}")
    else:
        all_pass, any_passes = rate**k, 1 - (1 - rate) ** k
    return ChancesOfK(
        all_pass, Interval(low**k, high**k), any_passes, Interval(1 - (1 - low) ** k, 1 - (1 - high) ** k)
    )


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the percentile, interpolated between neighbours, so never outside the data; None without data."""
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must be between 0 and 100, not {percent}")
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    share = position - below
    if share == 0 or low == high:
        return float(low)  # also where a neighbour is infinite
    # Rounding may carry an interpolated value past its neighbour.
    return min(max(low * (1 - share) + high * share, low), high)


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")


def check_min_pass_rate(min_pass_rate: float) -> None:
    if not 0 <= min_pass_rate < 1:
        raise ValueError(
            f"min_pass_rate must be at least 0 and below 1 (no number of runs can show 1.0), not {min_pass_rate}"
        )


def check_counts(passes: float, runs: float) -> None:
    if not 0 <= passes <= runs:
        raise ValueError(f"passes must be between 0 and runs, not {passes} of {runs}")


def _exact_low(passes: int, runs: int, tail: float) -> float:
    """Return the largest rate at which this many passes or more have at most the probability `tail`."""
    if passes == 0:
        return 0.0
    if passes == runs:
        return math.pow(tail, 1 / runs)
    return solve_rate(tail, lambda rate: at_least(passes, runs, rate), passes / runs)


def _sequence_low(passes: int, runs: int, tail: float) -> float:
    """Return the largest rate whose martingale has reached 1 / tail.

    There is only one: the martingale decreases in p up to (passes - 1/2) / runs, and is below 2 from there on.
    """
    if passes == 0:
        return 0.0
    below_two = (passes - 0.5) / runs
    return solve_rate(tail, lambda rate: math.exp(-log_martingale(passes, runs, rate)), below_two)


def log_martingale(passes: int, runs: int, rate: float) -> float:
    """Return the logarithm of the martingale of `confidence_sequence` at a rate below the observed one."""
    failures = runs - passes
    weight_above = 1 - 2 / math.pi * math.asin(math.sqrt(rate))
    average = log_beta(passes + 0.5, failures + 0.5) + math.log1p(-beta_cdf(rate, passes + 0.5, failures + 0.5))
    likelihood = passes * math.log(rate) + failures * math.log1p(-rate)
    return average - math.log(math.pi * weight_above) - likelihood
