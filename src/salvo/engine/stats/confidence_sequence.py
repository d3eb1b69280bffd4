"""Looking after every run: bounds that stay valid however often they are looked at."""

from __future__ import annotations

import math

from salvo.engine.stats.beta import beta_cdf, log_beta, where_it_reaches
from salvo.engine.stats.rates import Interval, check_confidence, check_counts


def confidence_sequence(passes: int, runs: int, confidence: float = 0.95) -> Interval:
    """An interval for a pass rate that holds it after every run at once, with at least this confidence.

    `clopper_pearson` promises its confidence for a number of runs fixed beforehand. Who looks after each run and stops
    when the answer pleases is wrong far more often. Here the chance that the interval *ever* misses the true rate,
    from the first run to the last, however many, is at most 1 - confidence: so one may stop, go on or resume at will.

    The method is Robbins' mixture martingale (Robbins 1970, Ann. Math. Statist. 41:1397) in its one-sided
    beta-binomial form (Howard, Ramdas, McAuliffe & Sekhon 2021, Ann. Statist. 49:1055). For a rate p, let M be the
    likelihood of the runs averaged over the rates above p, divided by their likelihood at p. If p is the true rate, M
    starts at 1 and is a martingale, so by Ville's inequality it ever reaches 2 / alpha with chance alpha / 2 at most.
    The lower bound is the largest p for which it has; the upper bound is the same for failures. The average is weighted
    by Jeffreys' prior, beta(1/2, 1/2), cut off at p: it has mass near 1, where agents that pass should be, and settles
    a faultless agent with 44 runs (uniform weights: 51; two-sided: 53) where 36 planned ones would do (0.9 at 95 %).

    It depends on the counts alone, not on their order: what was stored is enough to resume.
    """
    check_counts(passes, runs)
    check_confidence(confidence)
    alpha = 1 - confidence
    return Interval(_low(passes, runs, alpha), 1 - _low(runs - passes, runs, alpha))


def _low(passes: int, runs: int, alpha: float) -> float:
    """The largest rate whose martingale has reached 2 / alpha.

    There is one crossing only: the martingale falls in p up to (passes - 1/2) / runs, and is below 2 from there on.
    """
    if passes == 0:
        return 0.0
    below_two = (passes - 0.5) / runs
    return where_it_reaches(alpha / 2, lambda rate: math.exp(-_log_martingale(passes, runs, rate)), below_two)


def _log_martingale(passes: int, runs: int, rate: float) -> float:
    failures = runs - passes
    weight_above = 1 - 2 / math.pi * math.asin(math.sqrt(rate))
    average = log_beta(passes + 0.5, failures + 0.5) + math.log1p(-beta_cdf(rate, passes + 0.5, failures + 0.5))
    likelihood = passes * math.log(rate) + failures * math.log1p(-rate)
    return average - math.log(math.pi * weight_above) - likelihood
