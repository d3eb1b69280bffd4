"""Correct a judged pass rate by the labels of people, and say how many labels are still needed. Pure.

The judged items of a series are known. A person labels some of them, drawn at random within strata: those that the
judge passed, those that it failed, and those on which its votes were split. So the labels of a stratum show how often
a person would pass its items, and the sizes of the strata are exact: nothing is assumed about the judge.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, Literal, NamedTuple, TypeVar

from salvo.engine.stats.gating import GateVerdict
from salvo.engine.stats.pass_rates import Interval, check_counts, clopper_pearson, confidence_sequence, wilson
from salvo.records import record

FEWEST_PER_STRATUM = 5
"""So many labels of each stratum come first: with fewer, a stratum shows almost nothing."""

_DIGITS = 12

Name = TypeVar("Name")
RunSampling = Literal["fixed", "sequential"]


class Stratum(NamedTuple):
    """Items with the same kind of verdict. Those that are labelled are a random sample of them."""

    size: int
    labelled: int = 0
    passed: float = 0
    """How many of the labelled ones a person passes."""
    unclear: int = 0
    """How many of the labelled ones have no clear label. They may be passed or failed, so they widen the interval."""

    @property
    def failed(self) -> float:
        return self.labelled - self.passed - self.unclear


class CalibratedRate(NamedTuple):
    rate: float | None
    """None if a stratum has no clear label."""
    interval: Interval


def calibrated_rate(strata: Sequence[Stratum], confidence: float = 0.95) -> CalibratedRate | None:
    """Return the share of all items that a person would pass, with its interval; None without items.

    The Wilson interval of each stratum, with the correction for a finite population, is combined with the others as
    independent errors (MOVER: Zou & Donner 2008, Statistics in Medicine 27:1693; for stratified samples Yan & Su 2010,
    Statistics in Biopharmaceutical Research 2:42). In simulation with 20 to 50 labels it contains the true share in 93
    to 100 of 100 samples (`tests/engine/stats/test_calibration_referee.py`). A stratum without labels may hold
    anything, so its whole size is part of the interval.
    """
    total = sum(stratum.size for stratum in strata)
    if not total:
        return None
    low = high = 0.0
    below = above = 0.0
    for stratum in strata:
        _check(stratum)
        share = stratum.size / total
        if not stratum.labelled:
            high += share
            continue
        worst = stratum.passed / stratum.labelled
        best = (stratum.passed + stratum.unclear) / stratum.labelled
        low += share * worst
        high += share * best
        below += (share * (worst - _bounds(stratum, stratum.passed, confidence).low)) ** 2
        above += (share * (_bounds(stratum, stratum.passed + stratum.unclear, confidence).high - best)) ** 2
    # A sum of shares is rounded, so that all of the items are 1 and not almost 1.
    low, high = round(low - math.sqrt(below), _DIGITS), round(high + math.sqrt(above), _DIGITS)
    interval = Interval(max(0.0, low), min(1.0, high))
    return CalibratedRate(_estimate(strata, total), interval)


def with_run_sampling(
    calibrated: CalibratedRate, runs: int, confidence: float, sampling: RunSampling = "fixed"
) -> CalibratedRate:
    """Return the same rate as one of the agent, of which these runs are a sample, and not of these runs alone.

    The error of the sample of runs is combined with that of the labels, as that of one more independent source. Its
    bounds are exact for a fixed number of runs; with "sequential" they hold whenever the runs stopped.
    """
    low, high = calibrated.interval
    middle = (low + high) / 2 if calibrated.rate is None else calibrated.rate
    bounds = clopper_pearson if sampling == "fixed" else confidence_sequence
    # The counts that the rate comes to are rounded outwards.
    lowest = bounds(min(runs, math.floor(middle * runs + 1e-9)), runs, confidence).low
    highest = bounds(min(runs, math.ceil(middle * runs - 1e-9)), runs, confidence).high
    return calibrated._replace(
        interval=Interval(
            max(0.0, middle - math.hypot(middle - low, middle - lowest)),
            min(1.0, middle + math.hypot(high - middle, highest - middle)),
        )
    )


def rate_verdict(interval: Interval, min_pass_rate: float) -> GateVerdict:
    """Return "pass" if the lower bound reaches the rate, "fail" if the upper bound is below it."""
    # A sum of shares may miss a rate that it is equal to by rounding.
    if interval.low >= min_pass_rate - 1e-12:
        return "pass"
    return "fail" if interval.high < min_pass_rate - 1e-12 else "inconclusive"


def allocate(strata: Mapping[Name, Stratum], labels: int) -> dict[Name, int]:
    """Return how many of the next labels each stratum gets, so that the interval becomes as narrow as possible.

    After FEWEST_PER_STRATUM of each, a label goes where it reduces the variance of the estimate most.
    """
    counts = Counter(islice(_labelling_order(strata), labels))
    return {name: counts[name] for name in strata}


@record
class NeededLabels(Generic[Name]):
    labels: dict[Name, int]
    """How many of each stratum."""
    verdict: GateVerdict
    """What the labels would show."""


def needed_labels(
    strata: Mapping[Name, Stratum],
    expected: Mapping[Name, float],
    min_pass_rate: float,
    confidence: float = 0.95,
    runs: int | None = None,
    sampling: RunSampling = "fixed",
) -> NeededLabels[Name] | None:
    """Return the smallest number of further labels that settles the verdict; None if no number does.

    They are allocated as `allocate` does, and are assumed to come out as those of their stratum so far; in a stratum
    without a clear label, as `expected` says: the share that a person passes. With `runs` the verdict is one about the
    agent (`with_run_sampling`).
    """
    for later in _expected_labels(strata, expected):
        calibrated = calibrated_rate(list(later.values()), confidence)
        if calibrated is not None and runs is not None:
            calibrated = with_run_sampling(calibrated, runs, confidence, sampling)
        # The bounds do not close in strictly with each label, so that each number is tried.
        if calibrated and (verdict := rate_verdict(calibrated.interval, min_pass_rate)) != "inconclusive":
            return NeededLabels(_added_labels(strata, later), verdict)
    return None


def labels_for_width(
    strata: Mapping[Name, Stratum], expected: Mapping[Name, float], width: float, confidence: float = 0.95
) -> dict[Name, int] | None:
    """Return the smallest number of further labels of each stratum that narrows the interval to a width.

    They are allocated and assumed to come out as in `needed_labels`. It is None if no number does.
    """
    for later in _expected_labels(strata, expected):
        calibrated = calibrated_rate(list(later.values()), confidence)
        if calibrated and calibrated.interval.high - calibrated.interval.low <= width + 1e-12:
            return _added_labels(strata, later)
    return None


def _expected_labels(
    strata: Mapping[Name, Stratum], expected: Mapping[Name, float]
) -> Iterator[Mapping[Name, Stratum]]:
    """Yield the strata as they are expected to be after one more label, after two, and so on."""
    later = dict(strata)
    for name in _labelling_order(strata):
        stratum, now = strata[name], later[name]
        clear = stratum.labelled - stratum.unclear
        share = stratum.passed / clear if clear else expected[name]
        later[name] = now._replace(labelled=now.labelled + 1, passed=now.passed + share)
        yield later


def _added_labels(before: Mapping[Name, Stratum], after: Mapping[Name, Stratum]) -> dict[Name, int]:
    return {name: after[name].labelled - stratum.labelled for name, stratum in before.items()}


def _labelling_order(strata: Mapping[Name, Stratum]) -> Iterator[Name]:
    """Yield the stratum of each further label, until all items are labelled."""
    labelled = {name: stratum.labelled for name, stratum in strata.items()}
    while unfinished := [name for name, stratum in strata.items() if labelled[name] < stratum.size]:
        few = [name for name in unfinished if labelled[name] < FEWEST_PER_STRATUM]
        if few:
            name = min(few, key=labelled.__getitem__)
        else:
            name = max(unfinished, key=lambda name: _gain(strata[name], labelled[name]))
        labelled[name] += 1
        yield name


def _check(stratum: Stratum) -> None:
    check_counts(stratum.labelled, stratum.size)
    check_counts(stratum.passed + stratum.unclear, stratum.labelled + 1e-9)  # expected counts are sums of shares


def _bounds(stratum: Stratum, passed: float, confidence: float) -> Interval:
    """Return the Wilson interval of a stratum's share, and what its labels leave possible."""
    size, labelled = stratum.size, stratum.labelled
    if labelled == size:
        return Interval(passed / size, passed / size)
    effective = labelled * (size - 1) / (size - labelled)
    interval = wilson(min(passed / labelled * effective, effective), effective, confidence)
    return Interval(max(interval.low, passed / size), min(interval.high, (passed + size - labelled) / size))


def _estimate(strata: Sequence[Stratum], total: int) -> float | None:
    rate = 0.0
    for stratum in strata:
        clear = stratum.labelled - stratum.unclear
        if stratum.size and not clear:
            return None
        if stratum.size:
            rate += stratum.size / total * stratum.passed / clear
    return min(1.0, round(rate, _DIGITS))


def _gain(stratum: Stratum, labelled: int) -> float:
    """Return by how much one more label reduces the variance of the estimate, up to a common factor."""
    share = (stratum.passed + 2) / (stratum.labelled + 4)
    return stratum.size**2 * share * (1 - share) * (1 / labelled - 1 / (labelled + 1))
