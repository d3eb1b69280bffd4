"""Decide whether a pass rate is high enough, too low, or cannot be decided with these runs."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal, NamedTuple

from salvo.engine.stats.beta import at_least
from salvo.engine.stats.pass_rates import Interval, check_confidence, check_min_pass_rate, clopper_pearson

MAX_MORE_RUNS = 10_000
"""More further runs than this are not useful advice."""

GateVerdict = Literal["pass", "fail", "inconclusive"]


class Gate(NamedTuple):
    verdict: GateVerdict
    interval: Interval
    more: int | None
    """How many further passing runs would make it a pass; None if it is settled, or beyond MAX_MORE_RUNS."""


def gate(passes: int, runs: int, min_pass_rate: float, confidence: float = 0.95, *, one_sided: bool = False) -> Gate:
    """Return "pass" if the lower bound reaches `min_pass_rate`, "fail" if the upper bound is below it.

    The interval that is shown is the one that decides, and it is two-sided, because both passes and fails are reported.
    Confidence 0.95 means that at most 5 in 100 verdicts are wrong, whatever the true rate. Each error is on one side,
    so an agent below `min_pass_rate` passes at most 2.5 times in 100. With `one_sided`, each bound has the requested
    confidence, and the interval less: such an agent passes at most 5 times in 100, and fewer runs are needed. As for an
    agent only one of the errors is possible, still at most 5 in 100 verdicts are wrong.

    This holds for a number of runs that was fixed beforehand. To add runs and decide again, use a SequentialPlan, which
    is valid after every run.
    """
    check_min_pass_rate(min_pass_rate)
    interval = exact_interval(passes, runs, confidence, one_sided=one_sided)
    if interval.low >= min_pass_rate:
        return Gate("pass", interval, None)
    if interval.high < min_pass_rate:
        return Gate("fail", interval, None)
    return Gate("inconclusive", interval, _more(passes, runs, min_pass_rate, confidence, one_sided=one_sided))


def exact_interval(passes: int, runs: int, confidence: float, *, one_sided: bool = False) -> Interval:
    """Return the interval of Clopper and Pearson; with `one_sided`, each of its bounds has the confidence."""
    check_confidence(confidence)
    return clopper_pearson(passes, runs, 2 * confidence - 1 if one_sided else confidence)


def fewest_runs_to_pass(min_pass_rate: float, confidence: float = 0.95, *, one_sided: bool = False) -> int:
    """Return the number of runs below which even runs that all pass do not reach `min_pass_rate`."""
    check_min_pass_rate(min_pass_rate)
    if min_pass_rate == 0:
        return 1
    tail = (1 - confidence) / (1 if one_sided else 2)
    fewest = max(1, math.floor(math.log(tail) / math.log(min_pass_rate)))
    while exact_interval(fewest, fewest, confidence, one_sided=one_sided).low < min_pass_rate:
        fewest += 1
    return fewest


def fixed_runs_needed(
    min_pass_rate: float,
    true_rate: float,
    confidence: float = 0.95,
    power: float = 0.9,
    limit: int = 5_000,
    *,
    one_sided: bool = False,
) -> int | None:
    """Return the smallest fixed number of runs whose gate settles `true_rate` with at least the probability `power`.

    This is the number of runs to plan without stopping early, so early stopping is measured against it. None beyond
    `limit`; at `true_rate == min_pass_rate` no number is enough. The exact interval decides, as in `gate`.
    """
    check_min_pass_rate(min_pass_rate)
    check_confidence(confidence)
    tail = (1 - confidence) / (1 if one_sided else 2)
    if min_pass_rate == 0:
        return 1  # every rate reaches it
    if true_rate == min_pass_rate:
        return None
    # A fail is a pass of the mirror image, with failures instead of passes.
    bar, rate = (min_pass_rate, true_rate) if true_rate > min_pass_rate else (1 - min_pass_rate, 1 - true_rate)
    needed = 0  # passes that settle it; the number never falls as runs grow
    for runs in range(1, limit + 1):
        while needed <= runs and at_least(needed, runs, bar) > tail:
            needed += 1
        if needed <= runs and at_least(needed, runs, rate) >= power:
            return runs
    return None


def _more(passes: int, runs: int, min_pass_rate: float, confidence: float, *, one_sided: bool) -> int | None:
    def settles(more: int) -> bool:
        return exact_interval(passes + more, runs + more, confidence, one_sided=one_sided).low >= min_pass_rate

    # Each further pass raises the lower bound, so a binary search works.
    enough = bisect_left(range(MAX_MORE_RUNS + 1), True, lo=1, key=settles)
    return enough if enough <= MAX_MORE_RUNS else None
