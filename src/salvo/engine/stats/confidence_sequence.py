"""Bounds of a pass rate that stay valid when they are computed after every run."""

from __future__ import annotations

import math

from salvo.engine.stats.beta import beta_cdf, log_beta, solve_rate
from salvo.engine.stats.rates import Interval, check_confidence, check_counts


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
    alpha = 1 - confidence
    return Interval(_low(passes, runs, alpha), 1 - _low(runs - passes, runs, alpha))


def _low(passes: int, runs: int, alpha: float) -> float:
    """Return the largest rate whose martingale has reached 2 / alpha.

    There is only one: the martingale decreases in p up to (passes - 1/2) / runs, and is below 2 from there on.
    """
    if passes == 0:
        return 0.0
    below_two = (passes - 0.5) / runs
    return solve_rate(alpha / 2, lambda rate: math.exp(-_log_martingale(passes, runs, rate)), below_two)


def _log_martingale(passes: int, runs: int, rate: float) -> float:
    failures = runs - passes
    weight_above = 1 - 2 / math.pi * math.asin(math.sqrt(rate))
    average = log_beta(passes + 0.5, failures + 0.5) + math.log1p(-beta_cdf(rate, passes + 0.5, failures + 0.5))
    likelihood = passes * math.log(rate) + failures * math.log1p(-rate)
    return average - math.log(math.pi * weight_above) - likelihood
