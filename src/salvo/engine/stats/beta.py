"""The beta distribution. It contains every binomial tail: P(X >= x) of n at rate p is I_p(x, n - x + 1)."""

from __future__ import annotations

import math
from collections.abc import Callable

_TINY = 1e-300
_CLOSE = 1e-14  # a smaller step is only rounding


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), the regularised incomplete beta function, by its continued fraction (DLMF 8.17.22).

    The error is about 1e-11 for parameters in the thousands, from the logarithms of the gamma function.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # beyond the mean the fraction converges slowly, and its mirror image fast
        return 1 - beta_cdf(1 - x, b, a)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)) / a * _fraction(x, a, b)


def at_least(passes: int, runs: int, rate: float) -> float:
    """Return the probability that at least this many of the runs pass."""
    return 1.0 if passes == 0 else beta_cdf(rate, passes, runs - passes + 1)


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def solve_rate(target: float, probability: Callable[[float], float], high: float) -> float:
    """Return the rate below `high` at which a probability that increases with the rate reaches the target.

    It uses false position with the Illinois step on logarithms. There a probability is almost a straight line, so about
    eight evaluations are enough, and bisection takes sixty.
    """

    def excess(rate: float) -> float:
        return math.log(max(probability(rate), _TINY) / target)

    low, at_low = high, excess(high)
    at_high = at_low
    while at_low > 0:
        high, at_high = low, at_low
        low /= 4
        at_low = excess(low)
    last, at_last = low, at_low
    while True:
        rate = high * math.pow(low / high, at_high / (at_high - at_low))
        at_rate = excess(rate)
        if abs(rate - last) <= _CLOSE * rate or not low < rate < high:
            return rate
        same_side_again = at_rate * at_last > 0
        if at_rate < 0:
            low, at_low = rate, at_rate
            at_high = at_high / 2 if same_side_again else at_high
        else:
            high, at_high = rate, at_rate
            at_low = at_low / 2 if same_side_again else at_low
        last, at_last = rate, at_rate


def largest_small(low: float, high: float, is_small: Callable[[float], bool], steps: int) -> float:
    """Return the largest threshold that is small enough, as far as so many halvings of the range find it. `low` is."""
    for _ in range(steps):
        middle = math.sqrt(low * high)
        if is_small(middle):
            low = middle
        else:
            high = middle
    return low


def _fraction(x: float, a: float, b: float) -> float:
    """Return 1 / (1 + d1 / (1 + d2 / (1 + ...))) by Lentz's method, which takes about sqrt(max(a, b)) terms."""
    numerator = 1.0
    value = denominator = 1 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    m, change = 0, 0.0
    while abs(change - 1) > 1e-15:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator = 1 / ((1 + even * denominator) or _TINY)
        numerator = (1 + even / numerator) or _TINY
        value *= denominator * numerator
        denominator = 1 / ((1 + odd * denominator) or _TINY)
        numerator = (1 + odd / numerator) or _TINY
        change = denominator * numerator
        value *= change
    return value
