"""Numbers in English words: two hundred and fifty, twenty-first, twenty twenty-six, one zero zero one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

_UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINAL_UNITS = [
    *("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
]
_ORDINAL_TENS = [f"{tens[:-1]}ieth" for tens in _TENS]
_VALUES = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: 20 + 10 * number for number, word in enumerate(_TENS)},
    **{word: number for number, word in enumerate(_ORDINAL_UNITS, start=3)},
    **{word: 20 + 10 * number for number, word in enumerate(_ORDINAL_TENS)},
}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_AFTER_TENS = {"first": 1, "second": 2}
"""Alone they mostly mean something else."""
_WORD = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))
_SPELLED = re.compile(
    rf"\b(?:{_WORD})(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))(?:\s+and\s+|[\s-]+)(?:{_WORD})"
    rf"|(?:{'|'.join(f'(?<={tens})' for tens in _TENS)})[\s-](?:first|second)|[\s-]+(?:{_WORD}))*\b"
)
DAYS = {
    **{word: number for number, word in enumerate(("first", "second", *_ORDINAL_UNITS), start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    **{
        f"{tens}{separator}{unit}": first + number
        for tens, first, last in (("twenty", 21, 9), ("thirty", 31, 1))
        for separator in ("-", " ")
        for number, unit in enumerate(["first", "second", *_ORDINAL_UNITS][:last])
    },
}
"""The days of a month in words."""


class SpelledNumber(NamedTuple):
    """A number in words, what it may be, and the numbers that it consists of if they are read one by one."""

    text: str
    values: frozenset[Decimal]
    parts: tuple[int, ...]


def spelled_numbers(text: str) -> Iterator[SpelledNumber]:
    """Yield each number in words of a folded text."""
    for match in _SPELLED.finditer(text):
        parts = _parts([word for word in re.split(r"[\s-]+", match[0]) if word != "and"])
        values = {Decimal("".join(map(str, parts)))}
        if len(parts) == 2 and parts[1] < 100:  # fifty-nine ninety
            values.add(Decimal(f"{parts[0]}.{parts[1]:02}"))
        yield SpelledNumber(match[0], frozenset(value.normalize() for value in values), tuple(parts))


def _parts(words: Sequence[str]) -> list[int]:
    """Return the numbers that the words are: twenty-five is one, and twenty twenty-five are two."""
    parts: list[int] = []
    total = current = below = 0  # the next word is part of the same number if it is less than `below`
    for position, word in enumerate(words):
        scale, value = _SCALES.get(word), _VALUES.get(word) or _AFTER_TENS.get(word, 0)
        continues = bool(current) if scale else 0 < value < below
        if position and not continues:
            parts.append(total + current)
            total = current = 0
        if scale is None:
            current, below = current + value, 10 if value >= 20 else 1
        elif scale <= 100:
            current, below = (current or 1) * scale, 100 if scale == 100 else 1
        else:
            total, current, below = total + (current or 1) * scale, 0, scale
    return [*parts, total + current]
