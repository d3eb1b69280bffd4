"""Is a pass rate good enough, not good enough, or can these runs not tell?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from salvo.engine.stats.beta import at_least
from salvo.engine.stats.confidence_sequence import confidence_sequence
from salvo.engine.stats.rates import Interval, check_confidence, clopper_pearson

MOST_MORE_RUNS = 10_000
"""Beyond this many further runs, "so many more would settle it" is no advice."""

GateVerdict = Literal["pass", "fail", "inconclusive"]
Bounds = Callable[[int, int, float], Interval]


class Gate(NamedTuple):
    verdict: GateVerdict
    interval: Interval
    more: int | None
    """How many further runs, all of them passing, would make it a pass; None once it is settled, or beyond
    MOST_MORE_RUNS."""


def gate(
    passes: int, runs: int, min_pass_rate: float, confidence: float = 0.95, bounds: Bounds = clopper_pearson
) -> Gate:
    """PASS when the lower bound reaches `min_pass_rate`, FAIL when the upper bound is below it, else inconclusive.

    The interval that is shown is the one that decides, and it is two-sided: we announce passes and fails alike, so
    confidence 0.95 means that at most 5 in 100 verdicts are wrong whatever the true rate, and as each error lies on
    one side, an agent below `min_pass_rate` gets a PASS at most 2.5 times in 100. (A one-sided bound would need fewer
    runs, but its interval would have no upper end, or a confidence other than the one asked for.)

    That holds for a number of runs fixed beforehand. Topping up runs and gating again is a second look: for that,
    give `bounds=confidence_sequence`, which may be asked after every run.
    """
    _check_min_pass_rate(min_pass_rate)
    interval = bounds(passes, runs, confidence)
    if interval.low >= min_pass_rate:
        return Gate("pass", interval, None)
    if interval.high < min_pass_rate:
        return Gate("fail", interval, None)
    return Gate("inconclusive", interval, _more(passes, runs, min_pass_rate, confidence, bounds))


def settled(passes: int, runs: int, min_pass_rate: float, confidence: float = 0.95) -> Literal["pass", "fail"] | None:
    """What the runs so far have settled, if anything, asked as often as one likes (see `confidence_sequence`)."""
    _check_min_pass_rate(min_pass_rate)
    interval = confidence_sequence(passes, runs, confidence)
    if interval.low >= min_pass_rate:
        return "pass"
    return "fail" if interval.high < min_pass_rate else None


def fixed_runs_needed(
    min_pass_rate: float, true_rate: float, confidence: float = 0.95, power: float = 0.9, limit: int = 5_000
) -> int | None:
    """The smallest fixed number of runs whose gate settles, with chance `power` at least, what is true of `true_rate`.

    It is what one would have had to plan without looking in between, and so what stopping early is measured against.
    None beyond `limit`; at `true_rate == min_pass_rate` no number is enough. The exact interval decides, as in `gate`.
    """
    _check_min_pass_rate(min_pass_rate)
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    if min_pass_rate == 0:
        return 1  # which any rate reaches, whatever the run says
    if true_rate == min_pass_rate:
        return None
    # A fail is a pass of the mirror image: few failures of many instead of few passes.
    bar, rate = (min_pass_rate, true_rate) if true_rate > min_pass_rate else (1 - min_pass_rate, 1 - true_rate)
    needed = 0  # so many passes of n settle it; it never falls as n grows
    for runs in range(1, limit + 1):
        while needed <= runs and at_least(needed, runs, bar) > tail:
            needed += 1
        if needed <= runs and at_least(needed, runs, rate) >= power:
            return runs
    return None


def _more(passes: int, runs: int, min_pass_rate: float, confidence: float, bounds: Bounds) -> int | None:
    def settles(more: int) -> bool:
        return bounds(passes + more, runs + more, confidence).low >= min_pass_rate

    too_few, enough = 0, 1  # each further pass raises the lower bound, so doubling and halving finds the first
    while not settles(enough):
        if enough == MOST_MORE_RUNS:
            return None
        too_few, enough = enough, min(2 * enough, MOST_MORE_RUNS)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if settles(middle) else (middle, enough)
    return enough


def _check_min_pass_rate(min_pass_rate: float) -> None:
    if not 0 <= min_pass_rate < 1:
        raise ValueError(
            f"min_pass_rate must lie between 0 and 1, and no number of runs can show 1.0; not {min_pass_rate}"
        )
