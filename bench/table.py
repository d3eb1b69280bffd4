"""Prints what was measured: seconds, the ratio to each rival, and the ratio we promise."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Of the medians: one slow round on a busy machine must not decide, and neither must one lucky one."""
    return statistics.median(ours) / statistics.median(theirs)


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def line(name: str, numbers: Mapping[str, float], unit: str) -> None:
    print(f"  {name:<24}" + "".join(f"{label} {number:>9.3f} {unit}   " for label, number in numbers.items()))


def promise(text: str, measured: float, limit: float, unit: str = "×") -> None:
    verdict = "kept" if measured <= limit else "NOT KEPT"
    print(f"  {text}: {measured:.2f} {unit} (at most {limit:g} {unit}: {verdict})")
