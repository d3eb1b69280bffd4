"""The correction for several tests: one in twenty would be significant by chance."""

from __future__ import annotations

from collections.abc import Sequence


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


def needed_p(others: Sequence[float], alpha: float) -> float:
    """Return the largest p-value with which one more test would be a finding, given the other p-values.

    With it, `smallest_visible_difference` is about the corrected test. A single finding among m tests needs alpha / m.
    """
    tests = len(others) + 1
    findings = sum(p <= alpha for p in benjamini_hochberg([*others, 0.0]))
    return alpha * findings / tests
