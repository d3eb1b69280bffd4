"""Tests over several scenarios: one for each, with the correction for their number, or one over all of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

from salvo.engine.stats.beta import log_choose
from salvo.engine.stats.pass_rates import Tally, check_counts

MAX_PRODUCTS = 1_000_000
"""The limit on multiplications for an exact result (a fraction of a second). Beyond it an approximation is used."""


class BlockedTest(NamedTuple):
    p_value: float
    difference: float
    """B's pass rate minus A's, averaged over the scenarios with the weights of Mantel and Haenszel."""
    exact: bool


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return each p-value adjusted for the number of tests (Benjamini & Hochberg 1995, J. R. Statist. Soc. B 57:289).

    If every adjusted value up to alpha counts as a finding, the expected share of false findings is at most alpha, for
    independent tests. Scenarios are independent, because no run belongs to two of them.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must be between 0 and 1, not {p}")
    adjusted = [1.0] * len(p_values)
    smallest = 1.0
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank in range(len(p_values), 0, -1):
        index = ranked[rank - 1]
        smallest = min(smallest, p_values[index] * len(p_values) / rank)
        adjusted[index] = smallest
    return adjusted


def needed_p_values(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return for each test the largest p-value with which it would be a finding, given the p-values of the others.

    With it, a visible difference is about the corrected test. A single finding among m tests needs alpha / m.
    """
    tests = len(p_values)
    ranked = sorted(range(tests), key=lambda index: p_values[index])
    # Were a test a finding, those with smaller p-values would have a rank more. The others keep theirs.
    last = max((rank for rank, index in enumerate(ranked, 1) if p_values[index] <= alpha * rank / tests), default=0)
    findings = 1
    needed = [0.0] * tests
    for rank, index in enumerate(ranked, 1):
        needed[index] = alpha * max(findings, last if last > rank else 1) / tests
        if p_values[index] <= alpha * (rank + 1) / tests:
            findings = rank + 1
    return needed


def blocked_test(blocks: Sequence[tuple[Tally, Tally]]) -> BlockedTest | None:
    """Test whether sides A and B differ over all scenarios, two-sided; None if no scenario has runs on both sides.

    This is the exact Mantel-Haenszel test (1959, J. Natl. Cancer Inst. 22:719). Given how many runs of a scenario
    passed, equal sides share these passes like draws without replacement, and B's passes over all scenarios are the sum
    of these draws. The p-value is twice the probability of a sum at least as extreme as the observed one, on its side.
    Hard and easy scenarios are never mixed, so Simpson's paradox cannot occur. Differences in opposite directions
    cancel: the test is about B as a whole, not about single scenarios.

    If the sum has too many terms, the chi-squared approximation with continuity correction is used.
    """
    for side in (side for block in blocks for side in block):
        check_counts(*side)
    blocks = [(a, b) for a, b in blocks if a.runs and b.runs]
    if not blocks:
        return None
    exact = _products(blocks) <= MAX_PRODUCTS
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
    chances, observed = [1.0], 0  # the probabilities of 0, 1, 2 ... passes of B above the fewest possible
    for a, b in blocks:
        chances = _convolve(chances, _draws(a, b))
        observed += b.passes - _possible(a, b)[0]
    return min(1.0, 2 * min(math.fsum(chances[: observed + 1]), math.fsum(chances[observed:])))


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
    """Return the fewest and the most passes that B can have."""
    passes = a.passes + b.passes
    return max(0, passes - a.runs), min(b.runs, passes)


def _draws(a: Tally, b: Tally) -> list[float]:
    """Return the probability of each number of passes that B can have: the hypergeometric distribution."""
    passes = a.passes + b.passes
    fewest, most = _possible(a, b)
    total = log_choose(a.runs + b.runs, passes)
    return [
        math.exp(log_choose(b.runs, had) + log_choose(a.runs, passes - had) - total) for had in range(fewest, most + 1)
    ]


def _convolve(first: Sequence[float], second: Sequence[float]) -> list[float]:
    chances = [0.0] * (len(first) + len(second) - 1)
    for shift, chance in enumerate(second):
        for index, other in enumerate(first):
            chances[index + shift] += chance * other
    return chances
