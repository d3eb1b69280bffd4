"""Format numbers, times and values for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from salvo.engine.text.unicode_escape import printable
from salvo.records import record


@record
class NamedValue:
    """A name and its value. `code` says that the value is an identifier or a hash."""

    name: str
    value: str
    code: bool = False


def percent(share: float, *apart: float) -> str:
    """Return the share in percent, with as many digits as it needs to stay on its side of each value of `apart`.

    So a rate below a threshold is never shown as the threshold, only 1 as 100%, and only 0 as 0%.
    """
    return f"{_in_hundredths(share, ROUND_HALF_EVEN, (0.0, 1.0, *apart))}%"


def at_least(share: float, *apart: float) -> str:
    """Return a lower bound in percent, rounded down. Near 1 it has more digits, so that 99.96% is not shown as 99%."""
    return f"{_in_hundredths(share, ROUND_FLOOR, apart, close_to=1.0)}%"


def at_most(share: float, *apart: float) -> str:
    """Return an upper bound in percent, rounded up, like `at_least`."""
    return f"{_in_hundredths(share, ROUND_CEILING, apart, close_to=0.0)}%"


def exact_percent(share: float) -> str:
    """Return the share in percent with all its digits: a threshold as its user typed it."""
    return f"{_plain(_decimal(share) * 100)}%"


def exact_money(dollars: float) -> str:
    """Return an amount with all its digits: a limit as its user typed it."""
    return f"${_plain(_decimal(dollars))}"


def points(difference: float, *, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a difference of shares in percentage points with its sign. Only 0 is shown as 0."""
    text = _in_hundredths(abs(difference), _MIRRORED.get(rounding, rounding) if difference < 0 else rounding, (0.0,))
    return f"{'−' if difference < 0 else '+' if difference > 0 else ''}{text}"


def points_interval(low: float, high: float) -> str:
    """Return the interval of a difference, rounded outwards."""
    return f"{points(low, rounding=ROUND_FLOOR)} to {points(high, rounding=ROUND_CEILING)}"


def p_value(p: float, *levels: float) -> str:
    """Return a p-value with two or three digits, or more to stay on its side of each level. It is never shown as 0."""
    if p < 0.001 and all(p < level > 0.001 for level in levels):
        return "< 0.001"
    return _rounded(_decimal(p), ROUND_HALF_EVEN, [_decimal(level) for level in (0, *levels)], 3 if p < 0.01 else 2)


_MOST_DIGITS = 20
_MIRRORED = {ROUND_FLOOR: ROUND_CEILING, ROUND_CEILING: ROUND_FLOOR}
"""Down is away from 0 for a negative number."""


def _in_hundredths(share: float, rounding: str, apart: tuple[float, ...], close_to: float | None = None) -> str:
    limit = None if close_to is None else _decimal(close_to) * 100
    return _rounded(_decimal(share) * 100, rounding, [_decimal(other) * 100 for other in apart], 0, limit)


def _rounded(
    value: Decimal, rounding: str, apart: Sequence[Decimal], digits: int, close_to: Decimal | None = None
) -> str:
    """Return the value rounded to the fewest digits that leave it on its side of each value of `apart`.

    Rounding may also not double its distance to `close_to`.
    """
    while digits < _MOST_DIGITS:
        result = value.quantize(Decimal(1).scaleb(-digits), rounding)
        same_side = all((result > other) == (value > other) and (result < other) == (value < other) for other in apart)
        if same_side and (close_to is None or value == close_to or abs(result - close_to) < 2 * abs(value - close_to)):
            return f"{result:f}"
        digits += 1
    return _plain(value)


def _decimal(number: float) -> Decimal:
    """Return the number with the digits that Python shows, so that 0.29 is 29% and not a little less."""
    return Decimal(repr(float(number)))


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def or_unknown(value: float | None, text: Callable[[float], str]) -> str:
    return "unknown" if value is None else text(value)


def money(dollars: float) -> str:
    if dollars == 0:
        return "$0"
    if dollars >= 1:
        return f"${dollars:.2f}"
    # At least two significant digits, however cheap the model is.
    return f"${dollars:.{max(3, 1 - math.floor(math.log10(dollars)))}f}"


def running_cost(dollars: float) -> str:
    """Return dollars for a line that is updated: always with four digits, so that it does not jump."""
    return f"${dollars:.4f}" if dollars >= _SMALLEST_SHOWN else f"<${_SMALLEST_SHOWN:.4f}"


_SMALLEST_SHOWN = 0.0001


def seconds(duration: float) -> str:
    return f"{duration:.1f}s" if duration >= 1 else f"{duration * 1000:.0f}ms"


def pluralize(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def format_time(timestamp: str) -> str:
    """Return the time to the minute; the text itself where it is not a time."""
    try:
        return f"{datetime.fromisoformat(timestamp):%Y-%m-%d %H:%M}"
    except ValueError:
        return printable(timestamp)


def truncate(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: max(1, length - 1)]}…"


def first_lines(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more"] if more > 0 else [])]


def display_json(value: Any, length: int = 200) -> str:
    """Return the value as JSON on one line, truncated."""
    return truncate(printable(json.dumps(value, ensure_ascii=False, default=str)), length)


_PLAIN_PATH = re.compile(r"""(?:[^\[\](){}=<>!&,"'`]|\[[^\[\]]*\])+""")
_LAST_SEGMENT = re.compile(r"(?:[^.\[\]]|\[[^\[\]]*\])+$")


def path_label(path: str) -> str:
    """Return the last segment of a JMESPath; all of one that computes something, such as `length(a.b)`."""
    segment = _LAST_SEGMENT.search(path) if _PLAIN_PATH.fullmatch(path) and "||" not in path else None
    return segment[0] if segment else path
