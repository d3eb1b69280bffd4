"""The beta distribution, which holds every binomial tail: P(X >= x) of n at rate p is I_p(x, n - x + 1)."""

from __future__ import annotations

import math
from collections.abc import Callable

_TINY = 1e-300
_CLOSE = 1e-14  # two steps this near each other differ by the rounding of the chances only


def beta_cdf(x: float, a: float, b: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, by its continued fraction (DLMF 8.17.22).

    Good to about 1e-11 for parameters in the thousands; the logarithms of the gamma function set that limit.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # beyond the mean the fraction converges slowly, its mirror fast
        return 1 - beta_cdf(1 - x, b, a)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)) / a * _fraction(x, a, b)


def at_least(passes: int, runs: int, rate: float) -> float:
    """The chance that at least so many of the runs pass."""
    return 1.0 if passes == 0 else beta_cdf(rate, passes, runs - passes + 1)


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def where_it_reaches(target: float, chance: Callable[[float], float], high: float) -> float:
    """The rate below `high` at which a chance that rises with the rate, from 0 to above the target, reaches it.

    Between two rates around the root, false position with the Illinois step, on logarithms: there a chance is almost
    a straight line (with passes alone it is one), and some eight evaluations do where halving takes sixty.
    """

    def excess(rate: float) -> float:
        return math.log(max(chance(rate), _TINY) / target)

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


def _fraction(x: float, a: float, b: float) -> float:
    """1 / (1 + d1 / (1 + d2 / (1 + ...))), from the front by Lentz's method; it needs about sqrt(max(a, b)) terms."""
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
