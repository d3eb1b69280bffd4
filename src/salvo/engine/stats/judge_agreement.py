"""How well a judge agrees with people, and people with each other; and whether the agreement fell over time. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from salvo.engine.stats.exact_test import fisher
from salvo.engine.stats.pass_rates import Interval, percentile
from salvo.records import record

Item = TypeVar("Item", bound=Hashable)

DRAWS = 2_000
_SEED = 20_26
_MANY = 100
"""From so many expected successes on, a normal distribution is close to a binomial one."""

BLOCK = 20
"""A drop in agreement is looked for after each so many labels."""
LEVEL = 0.05
"""How often a judge whose agreement does not change is reported at most, over all looks together."""


@record
class IntervalEstimate:
    value: float
    interval: Interval
    """With 95 % confidence."""


class JudgedCell(NamedTuple):
    """The items of a stratum with the same verdict, and what people said of those that were drawn to be labelled."""

    verdict: bool
    size: int
    labelled: int
    """Only those with a clear label."""
    passed: int


@record
class JudgeQuality:
    """Estimates for all items. None where nothing is known: no label, or no item of the kind."""

    labels: int
    agreement: IntervalEstimate | None
    """The share of items on which the judge and people agree."""
    kappa: IntervalEstimate | None
    """Cohen's kappa: 1 is perfect agreement, 0 is agreement by chance."""
    pass_precision: IntervalEstimate | None
    """The share of the items that the judge passes which people pass."""
    pass_recall: IntervalEstimate | None
    """The share of the items that people pass which the judge passes."""
    fail_precision: IntervalEstimate | None
    """The share of the items that the judge fails which people fail."""
    fail_recall: IntervalEstimate | None
    """The share of the items that people fail which the judge fails."""


def judge_quality(cells: Sequence[JudgedCell]) -> JudgeQuality:
    """Return how well a judge agrees with people.

    The labels of a cell are a random sample of it, so each stands for as many items as its cell has per label. The
    intervals are those of 2,000 draws (always the same ones) of the unknown labels, with Jeffreys' prior for the share
    that passes in each cell. A cell without labels may come out in any way, and then there is no estimate.
    """
    cells = [cell for cell in cells if cell.size]
    labels = sum(cell.labelled for cell in cells)
    if not labels or any(not cell.labelled for cell in cells):
        return JudgeQuality(labels, None, None, None, None, None, None)
    values = _measures(cells, [cell.size * cell.passed / cell.labelled for cell in cells])
    source = random.Random(_SEED)  # noqa: S311 - a simulation, not a secret
    draws = [_measures(cells, [_drawn_passes(cell, source) for cell in cells]) for _ in range(DRAWS)]
    estimates = [_estimate(value, [draw[index] for draw in draws]) for index, value in enumerate(values)]
    return JudgeQuality(labels, *estimates)


@record
class ReviewerAgreement:
    """How well two people agree on the items that both labelled."""

    items: int
    agreed: int
    agreement: IntervalEstimate | None
    kappa: IntervalEstimate | None


@record
class ReviewerPair:
    reviewers: tuple[str, str]
    agreement: ReviewerAgreement


def reviewer_agreement(pairs: Sequence[tuple[bool, bool]]) -> ReviewerAgreement:
    """Return how well two people agree. Intervals are as those of `judge_quality`."""
    counts = [pairs.count((first, second)) for first in (True, False) for second in (True, False)]
    agreed = counts[0] + counts[3]
    if not pairs:
        return ReviewerAgreement(0, 0, None, None)
    source = random.Random(_SEED)  # noqa: S311 - a simulation, not a secret
    draws = [[source.gammavariate(count + 0.5, 1.0) for count in counts] for _ in range(DRAWS)]
    agreement = _estimate(agreed / len(pairs), [(draw[0] + draw[3]) / sum(draw) for draw in draws])
    kappa = _estimate(_kappa(*counts), [_kappa(*draw) for draw in draws])
    return ReviewerAgreement(len(pairs), agreed, agreement, kappa)


def reviewer_pairs(answers: Mapping[str, Mapping[Item, bool | None]]) -> Iterator[ReviewerPair]:
    """Yield how well each two reviewers agree on the items that both answered clearly. `answers` are by reviewer."""
    for (first, one), (second, other) in combinations(answers.items(), 2):
        shared = [
            (answer, other_answer)
            for item, answer in one.items()
            if answer is not None and (other_answer := other.get(item)) is not None
        ]
        if shared:
            yield ReviewerPair((first, second), reviewer_agreement(shared))


@record
class AgreementDrop:
    """A block of labels with which the judge agrees less often than with those before it."""

    before: int
    agreed_before: int
    block: int
    agreed: int
    p: float
    level: float
    """What p was compared with: the levels of all looks add up to at most LEVEL."""


def agreement_drop(agreed: Sequence[bool], block: int = BLOCK, level: float = LEVEL) -> AgreementDrop | None:
    """Return the newest drop in agreement; None if there is none. `agreed` is in the order of time.

    After each full block its agreement is compared with that of all labels before it, by Fisher's one-sided exact
    test. The k-th look has the level / (k (k + 1)), so that a judge whose agreement never changes is reported with at
    most the probability `level`, however long labels are collected.
    """
    newest = None
    for look, start in enumerate(range(block, len(agreed) - block + 1, block), start=1):
        before, now = agreed[:start], agreed[start : start + block]
        p = fisher(sum(now), len(now), sum(before), len(before))
        share = level / (look * (look + 1))
        if p <= share:
            newest = AgreementDrop(len(before), sum(before), len(now), sum(now), p, share)
    return newest


def agreement_drops(labels: Sequence[tuple[bool, bool]]) -> dict[bool, AgreementDrop]:
    """Return the newest drop in agreement by the judge's verdict. A label is the verdict and whether people agree.

    Items that were passed and failed are looked at apart, each with half of LEVEL: labels are drawn within verdicts,
    so that the agreement over all of them also changes with what is drawn.
    """
    by_verdict = {verdict: [agreed for judged, agreed in labels if judged is verdict] for verdict in (True, False)}
    drops = {verdict: agreement_drop(agreed, level=LEVEL / 2) for verdict, agreed in by_verdict.items()}
    return {verdict: drop for verdict, drop in drops.items() if drop is not None}


def _drawn_passes(cell: JudgedCell, source: random.Random) -> float:
    share = source.betavariate(cell.passed + 0.5, cell.labelled - cell.passed + 0.5)
    return cell.passed + _binomial(cell.size - cell.labelled, share, source)


def _binomial(trials: int, share: float, source: random.Random) -> float:
    """Draw how many of the trials succeed. (`random.binomialvariate` is new in Python 3.12.)"""
    if share > 0.5:
        return trials - _binomial(trials, 1 - share, source)
    if trials * share > _MANY:
        drawn = source.gauss(trials * share, math.sqrt(trials * share * (1 - share)))
        return min(trials, max(0.0, drawn))
    if share <= 0:
        return 0
    # Jump from one success to the next.
    successes, position = 0, 0
    log_failure = math.log1p(-share)
    while (position := position + 1 + int(math.log(1 - source.random()) / log_failure)) <= trials:
        successes += 1
    return successes


def _measures(cells: Sequence[JudgedCell], passes: Sequence[float]) -> list[float | None]:
    """Return the measures in the order of JudgeQuality, for the number of items that people pass in each cell."""
    both = sum(count for cell, count in zip(cells, passes, strict=True) if cell.verdict)
    judge_only = sum(cell.size for cell in cells if cell.verdict) - both
    people_only = sum(count for cell, count in zip(cells, passes, strict=True) if not cell.verdict)
    neither = sum(cell.size for cell in cells if not cell.verdict) - people_only
    return [
        _ratio(both + neither, both + judge_only + people_only + neither),
        _kappa(both, judge_only, people_only, neither),
        _ratio(both, both + judge_only),
        _ratio(both, both + people_only),
        _ratio(neither, neither + people_only),
        _ratio(neither, neither + judge_only),
    ]


def _kappa(both: float, first_only: float, second_only: float, neither: float) -> float | None:
    total = both + first_only + second_only + neither
    first, second = (both + first_only) / total, (both + second_only) / total
    by_chance = first * second + (1 - first) * (1 - second)
    if by_chance >= 1 - 1e-12:
        return None  # all answers are equal
    return ((both + neither) / total - by_chance) / (1 - by_chance)


def _ratio(part: float, total: float) -> float | None:
    return part / total if total else None


def _estimate(value: float | None, draws: Sequence[float | None]) -> IntervalEstimate | None:
    values = [draw for draw in draws if draw is not None]
    low, high = percentile(values, 2.5), percentile(values, 97.5)
    if value is None or low is None or high is None:
        return None
    # Nobody disagreed: then the value itself is at the end of what is possible.
    return IntervalEstimate(value, Interval(min(low, value), max(high, value)))
