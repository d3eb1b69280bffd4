"""Several p-values at once: one in twenty looks like a finding where there is none."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Each p-value adjusted for the number of tests (Benjamini & Hochberg 1995, J. R. Statist. Soc. B 57:289).

    Calling every adjusted value up to alpha a finding keeps the expected share of false ones among the findings at
    alpha or below, for independent tests. Scenarios are: no run belongs to two of them.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must lie between 0 and 1, not {p}")
    adjusted = [1.0] * len(p_values)
    least = 1.0
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank in range(len(p_values), 0, -1):
        index = ranked[rank - 1]
        least = min(least, p_values[index] * len(p_values) / rank)
        adjusted[index] = least
    return adjusted


def needed_p(others: Sequence[float], alpha: float) -> float:
    """The largest p-value that would have made one more test a finding, the other tests' p-values being what they are.

    With it `smallest_visible_difference` speaks of the corrected test: alone among m tests, one needs alpha / m.
    """
    tests = len(others) + 1
    findings = sum(p <= alpha for p in benjamini_hochberg([*others, 0.0]))
    return alpha * findings / tests
