"""Format numbers, times and values for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from salvo.engine.text.unicode_escape import printable


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A name and its value. `code` says that the value is an identifier or a hash."""

    name: str
    value: str
    code: bool = False


def percent(share: float) -> str:
    """Return the share in percent. Only 1 is shown as 100%, and only 0 as 0%."""
    text = f"{share:.0%}"
    if text == "100%" and share < 1:
        return ">99%"
    return "<1%" if text == "0%" and share > 0 else text


def or_unknown(value: float | None, text: Callable[[float], str]) -> str:
    return "unknown" if value is None else text(value)


def at_least(share: float) -> str:
    return f"{math.floor(share * 100)}%"


def at_most(share: float) -> str:
    return f"{math.ceil(share * 100)}%"


def money(dollars: float) -> str:
    if dollars == 0:
        return "$0"
    if dollars >= 1:
        return f"${dollars:.2f}"
    # At least two significant digits, however cheap the model is.
    return f"${dollars:.{max(3, 1 - math.floor(math.log10(dollars)))}f}"


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
