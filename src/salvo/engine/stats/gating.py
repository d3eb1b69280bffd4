"""Decide whether a pass rate is high enough, too low, or cannot be decided with these runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal, NamedTuple

from salvo.engine.stats.beta import at_least
from salvo.engine.stats.rates import Interval, check_confidence, clopper_pearson, confidence_sequence

MAX_MORE_RUNS = 10_000
"""More further runs than this are not useful advice."""

GateVerdict = Literal["pass", "fail", "inconclusive"]
Bounds = Callable[[int, int, float], Interval]


class Gate(NamedTuple):
    verdict: GateVerdict
    interval: Interval
    more: int | None
    """How many further passing runs would make it a pass; None if it is settled, or beyond MAX_MORE_RUNS."""


def gate(
    passes: int, runs: int, min_pass_rate: float, confidence: float = 0.95, bounds: Bounds = clopper_pearson
) -> Gate:
    """Return "pass" if the lower bound reaches `min_pass_rate`, "fail" if the upper bound is below it.

    The interval that is shown is the one that decides, and it is two-sided, because both passes and fails are reported.
    Confidence 0.95 means that at most 5 in 100 verdicts are wrong, whatever the true rate. Each error is on one side,
    so an agent below `min_pass_rate` passes at most 2.5 times in 100. (A one-sided bound would need fewer runs, but its
    interval would have no upper end, or another confidence than the requested one.)

    This holds for a number of runs that was fixed beforehand. To add runs and decide again, use
    `bounds=confidence_sequence`, which is valid after every run.
    """
    _check_min_pass_rate(min_pass_rate)
    interval = bounds(passes, runs, confidence)
    if interval.low >= min_pass_rate:
        return Gate("pass", interval, None)
    if interval.high < min_pass_rate:
        return Gate("fail", interval, None)
    return Gate("inconclusive", interval, _more(passes, runs, min_pass_rate, confidence, bounds))


def settled(passes: int, runs: int, min_pass_rate: float, confidence: float = 0.95) -> Literal["pass", "fail"] | None:
    """Return the verdict that the runs so far have settled, or None. It may be called after every run."""
    _check_min_pass_rate(min_pass_rate)
    interval = confidence_sequence(passes, runs, confidence)
    if interval.low >= min_pass_rate:
        return "pass"
    return "fail" if interval.high < min_pass_rate else None


def fixed_runs_needed(
    min_pass_rate: float, true_rate: float, confidence: float = 0.95, power: float = 0.9, limit: int = 5_000
) -> int | None:
    """Return the smallest fixed number of runs whose gate settles `true_rate` with at least the probability `power`.

    This is the number of runs to plan without stopping early, so early stopping is measured against it. None beyond
    `limit`; at `true_rate == min_pass_rate` no number is enough. The exact interval decides, as in `gate`.
    """
    _check_min_pass_rate(min_pass_rate)
    check_confidence(confidence)
    tail = (1 - confidence) / 2
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


def _more(passes: int, runs: int, min_pass_rate: float, confidence: float, bounds: Bounds) -> int | None:
    def settles(more: int) -> bool:
        return bounds(passes + more, runs + more, confidence).low >= min_pass_rate

    # Each further pass raises the lower bound, so a binary search works.
    enough = bisect_left(range(MAX_MORE_RUNS + 1), True, lo=1, key=settles)
    return enough if enough <= MAX_MORE_RUNS else None


def _check_min_pass_rate(min_pass_rate: float) -> None:
    if not 0 <= min_pass_rate < 1:
        raise ValueError(
            f"min_pass_rate must be at least 0 and below 1 (no number of runs can show 1.0), not {min_pass_rate}"
        )
