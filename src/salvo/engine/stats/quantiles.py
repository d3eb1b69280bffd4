"""Percentiles of measured values."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the percentile, interpolated between neighbours, so never outside the data; None without data."""
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must be between 0 and 100, not {percent}")
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    share = position - below
    if share == 0 or low == high:
        return float(low)  # also where a neighbour is infinite
    # Rounding may carry an interpolated value past its neighbour.
    return min(max(low * (1 - share) + high * share, low), high)
