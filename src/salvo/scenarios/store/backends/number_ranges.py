"""Run numbers as ranges: a lease of ten thousand runs is one range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_ALL_NUMBERS = 10**9


class NumberRange(NamedTuple):
    """Run numbers from `first` to `last`, both included."""

    first: int
    last: int


ALL_RUNS = (NumberRange(1, _ALL_NUMBERS),)


def join_ranges(numbers: Iterable[int] | Iterable[NumberRange]) -> list[NumberRange]:
    """Return numbers and ranges as few ranges, in order."""
    ranges = sorted(NumberRange(item, item) if isinstance(item, int) else item for item in numbers)
    joined: list[NumberRange] = []
    for item in ranges:
        if joined and item.first <= joined[-1].last + 1:
            joined[-1] = NumberRange(joined[-1].first, max(joined[-1].last, item.last))
        else:
            joined.append(item)
    return joined


def subtract_ranges(ranges: Iterable[NumberRange], removed: Iterable[NumberRange]) -> list[NumberRange]:
    """Return the ranges without the numbers of the others. Each list is in order, and its ranges do not overlap."""
    remaining: list[NumberRange] = []
    others = list(removed)
    position = 0
    for item in ranges:
        while position < len(others) and others[position].last < item.first:
            position += 1
        start, index = item.first, position
        while index < len(others) and others[index].first <= item.last:
            if start < others[index].first:
                remaining.append(NumberRange(start, others[index].first - 1))
            start = max(start, others[index].last + 1)
            index += 1
        if start <= item.last:
            remaining.append(NumberRange(start, item.last))
    return remaining
