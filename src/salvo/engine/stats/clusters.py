"""Means over scenarios, with errors clustered by scenario (Miller 2024, "Adding Error Bars to Evals")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from salvo.engine.stats.beta import beta_cdf, solve_rate
from salvo.engine.stats.pass_rates import Interval
from salvo.records import record


class Cluster(NamedTuple):
    """The estimate of one scenario with its interval: a pass rate, or a difference of two."""

    value: float
    interval: Interval


@record
class ClusteredMean:
    mean: float
    standard_error: float
    """Of the mean, from how far the scenarios are apart."""
    interval: Interval


def clustered_mean(clusters: Sequence[Cluster], limits: Interval, confidence: float = 0.95) -> ClusteredMean | None:
    """Return the mean over scenarios, each with the same weight; None with fewer than two.

    The runs of a scenario resemble each other, so the scenarios are the sample, not their runs: the standard error is
    the standard deviation of the scenarios' values over the square root of their number, and Student's t gives the
    interval. It contains the variation of the runs, too. If the scenarios happen to agree, that would make the interval
    too narrow; so it is at least as wide as what the runs leave open about these scenarios, which is the square sum of
    the scenarios' own intervals (MOVER: Zou & Donner 2008, Statistics in Medicine 27:1693).
    """
    count = len(clusters)
    if count < 2:
        return None
    mean = math.fsum(cluster.value for cluster in clusters) / count
    variance = math.fsum((cluster.value - mean) ** 2 for cluster in clusters) / (count - 1)
    error = math.sqrt(variance / count)
    between = t_quantile(confidence, count - 1) * error
    below = math.sqrt(math.fsum((cluster.value - cluster.interval.low) ** 2 for cluster in clusters)) / count
    above = math.sqrt(math.fsum((cluster.interval.high - cluster.value) ** 2 for cluster in clusters)) / count
    return ClusteredMean(
        mean,
        error,
        Interval(max(limits.low, mean - max(between, below)), min(limits.high, mean + max(between, above))),
    )


def t_quantile(confidence: float, degrees: int) -> float:
    """Return the t for which a variable with Student's distribution is between -t and t with this probability."""
    share = solve_rate(1 - confidence, lambda x: beta_cdf(x, degrees / 2, 0.5), 1.0)
    return math.sqrt(degrees * (1 - share) / share)
