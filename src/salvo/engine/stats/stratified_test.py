"""One test over all scenarios, each compared only with itself."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

from salvo.engine.stats.beta import log_choose
from salvo.engine.stats.rates import Tally, check_counts

MOST_PRODUCTS = 1_000_000
"""The multiplications an exact answer may cost (a fraction of a second); beyond it the normal approximation stands."""


class BlockedTest(NamedTuple):
    p_value: float
    difference: float
    """B's pass rate less A's, averaged over the scenarios with the weights of Mantel and Haenszel."""
    exact: bool


def blocked_test(blocks: Sequence[tuple[Tally, Tally]]) -> BlockedTest | None:
    """Do sides A and B differ over all scenarios? Two-sided; None where no scenario has runs on both sides.

    The Mantel-Haenszel test (1959, J. Natl. Cancer Inst. 22:719), exact: within a scenario, and given how many of its
    runs passed in all, equal sides share those passes like a draw without replacement; B's passes over all scenarios
    are the sum of these draws. The p-value is twice the chance of a sum as far out as the one seen, on its side. Hard
    and easy scenarios are never mixed, so Simpson's paradox has no way in. Differences in opposite directions cancel:
    this asks whether B is better or worse on the whole, not whether it differs anywhere.

    Where that sum has too many terms, the chi-squared approximation with continuity correction stands in its place.
    """
    for side in (side for block in blocks for side in block):
        check_counts(*side)
    blocks = [(a, b) for a, b in blocks if a.runs and b.runs]
    if not blocks:
        return None
    exact = _products(blocks) <= MOST_PRODUCTS
    return BlockedTest(_exact_p(blocks) if exact else _approximate_p(blocks), _difference(blocks), exact)


def _difference(blocks: Sequence[tuple[Tally, Tally]]) -> float:
    weights = [a.runs * b.runs / (a.runs + b.runs) for a, b in blocks]
    differences = [b.passes / b.runs - a.passes / a.runs for a, b in blocks]
    return math.fsum(map(operator.mul, weights, differences)) / math.fsum(weights)


def _products(blocks: Sequence[tuple[Tally, Tally]]) -> int:
    terms, products = 1, 0
    for a, b in blocks:
        fewest, most = _possible(a, b)
        products += terms * (most - fewest + 1)
        terms += most - fewest
    return products


def _exact_p(blocks: Sequence[tuple[Tally, Tally]]) -> float:
    chances, seen = [1.0], 0  # of 0, 1, 2 ... passes of B above the fewest possible, and how many there were
    for a, b in blocks:
        chances = _sum_of(chances, _draws(a, b))
        seen += b.passes - _possible(a, b)[0]
    return min(1.0, 2 * min(math.fsum(chances[: seen + 1]), math.fsum(chances[seen:])))


def _approximate_p(blocks: Sequence[tuple[Tally, Tally]]) -> float:
    excess, variance = 0.0, 0.0
    for a, b in blocks:
        runs, passes = a.runs + b.runs, a.passes + b.passes
        excess += b.passes - b.runs * passes / runs
        variance += a.runs * b.runs * passes * (runs - passes) / (runs * runs * (runs - 1))
    if not variance:
        return 1.0
    return math.erfc(max(0.0, abs(excess) - 0.5) / math.sqrt(2 * variance))


def _possible(a: Tally, b: Tally) -> tuple[int, int]:
    """The fewest and the most of all the passes that can be B's."""
    passes = a.passes + b.passes
    return max(0, passes - a.runs), min(b.runs, passes)


def _draws(a: Tally, b: Tally) -> list[float]:
    """The chance of each number of passes that B can have: the hypergeometric distribution."""
    passes = a.passes + b.passes
    fewest, most = _possible(a, b)
    whole = log_choose(a.runs + b.runs, passes)
    return [
        math.exp(log_choose(b.runs, had) + log_choose(a.runs, passes - had) - whole) for had in range(fewest, most + 1)
    ]


def _sum_of(first: Sequence[float], second: Sequence[float]) -> list[float]:
    chances = [0.0] * (len(first) + len(second) - 1)
    for shift, chance in enumerate(second):
        for index, other in enumerate(first):
            chances[index + shift] += chance * other
    return chances
