"""Stop as soon as a verdict is settled, at most after a number of runs, and estimate the pass rate afterwards."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from salvo.engine.stats.beta import largest_small, log_choose
from salvo.engine.stats.pass_rates import Interval, check_confidence, check_min_pass_rate, log_martingale

MAX_CALIBRATED_RUNS = 2_000
"""Beyond this number the thresholds are those for any number of runs, which need a few more runs."""
MAX_CORRECTED_RUNS = 3_000
"""Beyond this number the corrected interval takes too long to compute."""
_NEGLIGIBLE = 1e-17
_STEPS = 9
"""Halvings of the range in which the calibrated threshold is searched, to about 0.5 % of its value."""
_CLOSE = 1e-7
_TAIL_95 = 0.025


class CorrectedRate(NamedTuple):
    """A pass rate after early stopping: the median-unbiased estimate, and its exact interval."""

    rate: float
    interval: Interval
    """With the confidence of the plan."""
    interval_95: Interval
    """With a confidence of 95 %, for means and lists."""


class SequentialPlan(NamedTuple):
    """A test of `min_pass_rate` that may be looked at after any run, up to `max_runs`.

    A verdict is settled when the mixture martingale of `confidence_sequence`, at `min_pass_rate`, reaches a threshold.
    Ville's inequality gives a threshold that is valid for any number of runs. At most `max_runs` are made, so a lower
    one is valid: the lowest at which the probability of a wrong verdict, computed exactly for a look after every run,
    is within the limit. Fewer looks than that only lower the probability.

    With `one_sided`, each of the two possible errors has the probability 1 - confidence instead of half of it. As an
    agent is either below `min_pass_rate` or not, only one of them is possible, so at most 1 - confidence of the
    verdicts are wrong either way. What is lost is the two-sided interval: its confidence is then 2 * confidence - 1.
    """

    min_pass_rate: float
    confidence: float
    max_runs: int
    one_sided: bool = False

    @property
    def tail(self) -> float:
        return (1 - self.confidence) / (1 if self.one_sided else 2)

    def verdict(self, passes: int, runs: int) -> Literal["pass", "fail"] | None:
        """Return the verdict that these runs settle, or None."""
        check_confidence(self.confidence)
        check_min_pass_rate(self.min_pass_rate)
        if self.min_pass_rate == 0 or _reaches(passes, runs, self.min_pass_rate, self._threshold(passing=True)):
            return "pass"
        failed = _reaches(runs - passes, runs, 1 - self.min_pass_rate, self._threshold(passing=False))
        return "fail" if failed else None

    def more(self, passes: int, runs: int) -> int | None:
        """Return how many further runs, all passing, would settle it; None if `max_runs` does not allow so many."""
        possible = range(max(0, self.max_runs - runs) + 1)
        enough = bisect_left(possible, True, key=lambda more: self.verdict(passes + more, runs + more) == "pass")
        return enough if enough < len(possible) else None

    def estimate(self, passes: int, looks: Sequence[int]) -> CorrectedRate | None:
        """Return the pass rate after runs that were looked at after these numbers of runs, the last one the present.

        Runs that stop at a success or a failure have too high or too low an observed rate. Here results are ordered as
        they are met (Jennison & Turnbull 2000, ch. 8.4): an earlier pass is stronger evidence of a high rate than a
        later one. The bounds are the rates at which a result at least as extreme as the observed one has the
        probability `tail`: without an earlier look this is the interval of Clopper and Pearson. It excludes
        `min_pass_rate` whenever the verdict is settled. None beyond MAX_CORRECTED_RUNS.
        """
        if not looks or looks[-1] > MAX_CORRECTED_RUNS:
            return None
        return _estimate(self, passes, tuple(looks))

    def _threshold(self, *, passing: bool) -> float:
        rate = self.min_pass_rate if passing else 1 - self.min_pass_rate
        return calibrated_tail(rate, self.tail, self.max_runs)


@lru_cache(maxsize=256)
def calibrated_tail(rate: float, tail: float, max_runs: int) -> float:
    """Return the largest tail whose threshold, 1 / tail, the martingale reaches with at most the given probability.

    The probability is that of ever reaching it within `max_runs` runs, at this pass rate. By Ville's inequality the
    given tail itself is always small enough.
    """
    if max_runs > MAX_CALIBRATED_RUNS or not 0 < rate < 1:
        return tail

    def is_small(threshold: float) -> bool:
        return _chance_of_reaching(rate, threshold, max_runs, tail) <= tail

    return largest_small(tail, min(1.0, 4 * tail), is_small, _STEPS)


def _reaches(passes: int, runs: int, rate: float, tail: float) -> bool:
    # Below the tested rate the martingale is below 2.
    return passes > rate * runs and log_martingale(passes, runs, rate) >= -math.log(tail)


def _chance_of_reaching(rate: float, tail: float, max_runs: int, enough: float) -> float:
    """Return the probability that the martingale reaches 1 / tail within the runs, or a number above `enough`."""
    allowed = -1  # the most failures with which it is reached; one more run allows at most one more
    alive, fewest = [1.0], 0  # the probabilities of `fewest`, `fewest` + 1 ... failures without having reached it
    reached = 0.0
    for runs in range(1, max_runs + 1):
        alive = [rate * here + (1 - rate) * before for here, before in zip([*alive, 0.0], [0.0, *alive], strict=True)]
        if _reaches(runs - allowed - 1, runs, rate, tail):
            allowed += 1
        if fewest <= allowed:
            reached += sum(alive[: allowed - fewest + 1])
            alive, fewest = alive[allowed - fewest + 1 :], allowed + 1
        while alive and alive[-1] < _NEGLIGIBLE:
            alive.pop()
        if reached > enough or not alive:
            break
    return reached


@lru_cache(maxsize=1024)
def _estimate(plan: SequentialPlan, passes: int, looks: tuple[int, ...]) -> CorrectedRate:
    bounds = [_bounds(plan, runs) for runs in looks[:-1]]

    def at_or_above(rate: float) -> float:
        return _tails(rate, passes, looks, bounds)[1]

    def at_or_below(rate: float) -> float:
        return _tails(rate, passes, looks, bounds)[0]

    def rate_with(probability: float, chance: Callable[[float], float], *, increasing: bool) -> float:
        low, high = 0.0, 1.0
        while high - low > _CLOSE:
            middle = (low + high) / 2
            if (chance(middle) < probability) == increasing:
                low = middle
            else:
                high = middle
        return low if increasing else high

    lowest, highest = passes == 0, passes == looks[-1]

    def bounds_with(tail: float) -> Interval:
        return Interval(
            0.0 if lowest else rate_with(tail, at_or_above, increasing=True),
            1.0 if highest else rate_with(tail, at_or_below, increasing=False),
        )

    interval = _beyond_the_minimum(plan, bounds_with(plan.tail), plan.verdict(passes, looks[-1]))
    interval_95 = interval if math.isclose(plan.tail, _TAIL_95) else bounds_with(_TAIL_95)
    return CorrectedRate(sum(bounds_with(0.5)) / 2, interval, interval_95)


def _bounds(plan: SequentialPlan, runs: int) -> tuple[int, int]:
    """Return the most passes that settle "fail" after these runs, and the fewest that settle "pass"."""
    counts = range(runs + 1)
    fewest = bisect_left(counts, True, key=lambda passes: plan.verdict(passes, runs) == "pass")
    most = bisect_left(counts, True, key=lambda passes: plan.verdict(passes, runs) != "fail") - 1
    return most, fewest


def _beyond_the_minimum(plan: SequentialPlan, interval: Interval, verdict: Literal["pass", "fail"] | None) -> Interval:
    """Return the interval without the error of its search, which could include `min_pass_rate` by a hair."""
    if verdict == "pass":
        return Interval(max(interval.low, plan.min_pass_rate), interval.high)
    if verdict == "fail":
        return Interval(interval.low, min(interval.high, math.nextafter(plan.min_pass_rate, 0.0)))
    return interval


def _tails(rate: float, passes: int, looks: Sequence[int], bounds: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the probabilities of a result at most, and at least, as high as the observed one."""
    alive, fewest, runs = [1.0], 0, 0  # the probabilities of `fewest`, `fewest` + 1 ... passes without a verdict
    below = above = 0.0
    for look, (most_failing, fewest_passing) in zip(looks, [*bounds, (-1, looks[-1] + 1)], strict=True):
        alive = _after_more(alive, look - runs, rate)
        runs = look
        passing = max(0, min(fewest_passing - fewest, len(alive)))
        failing = max(0, min(most_failing + 1 - fewest, passing))
        above += math.fsum(alive[passing:])
        below += math.fsum(alive[:failing])
        alive, fewest = alive[failing:passing], fewest + failing
    here = passes - fewest
    return below + math.fsum(alive[: max(0, here + 1)]), above + math.fsum(alive[max(0, here) :])


def _after_more(alive: Sequence[float], runs: int, rate: float) -> list[float]:
    """Return the probabilities of the numbers of passes after so many more runs."""
    log_pass, log_fail = math.log(rate), math.log1p(-rate)
    added = [math.exp(log_choose(runs, had) + had * log_pass + (runs - had) * log_fail) for had in range(runs + 1)]
    chances = [0.0] * (len(alive) + runs)
    for start, chance in enumerate(alive):
        if chance > _NEGLIGIBLE:
            for more, probability in enumerate(added):
                chances[start + more] += chance * probability
    return chances
