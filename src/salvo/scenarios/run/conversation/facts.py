"""The facts in a text: numbers, ids, dates, times and addresses, in a form in which equal ones are equal. Pure.

`unknown_facts(message, sources)` returns those of a message that no source states. A fact is the same in another
notation: 1,299.00 and 1299, A1001 and a-1001, 15 November 2026 and 2026-11-15, two and 2. Relative dates (yesterday)
and months without a day are no facts; `one`, `first` and `second` are none in a message: they are mostly other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

_UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
"""Those that are not mostly something else, as first and second are."""
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_SPELLED = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: 20 + 10 * number for number, word in enumerate(_TENS)},
    **{word: number for number, word in enumerate(_ORDINALS, start=3)},
    "dozen": 12,
}
_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            *(("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun")),
            *(("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct")),
            *(("november", "nov"), ("december", "dec")),
        ],
        start=1,
    )
    for name in names
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOP_LEVEL = "com|org|net|io|edu|gov|info|co|de|uk|fr|eu|app|dev|ai|shop|biz|ch|nl|es|pl|se|dk|jp|cn|br|au|ca"
_WEB = re.compile(
    rf"(?:https?://|www\.)[^\s<>\"')\]]+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_LEVEL})\b(?:/[^\s<>\"')\]]*)?"
)
_STREET = re.compile(
    r"\b([A-Z][\w'’-]*)\s+(?:Street|St\.|Avenue|Ave\.?|Road|Rd\.?|Boulevard|Blvd\.?|Lane|Drive|Terrace|Crescent|Highway|"
    r"Parkway|Gardens)(?!\w)"
    r"|\b([A-ZÄÖÜ][\w-]*(?:straße|strasse|gasse|allee|platz))\b"
)
_LETTERS_ID = re.compile(
    r"\b(?:ID|[Ii]d|[Cc]ode|[Nn]umber|[Rr]eference|[Bb]ooking|[Oo]rder|[Vv]oucher)(?:\s*[:#]|\s+(?:is|was))\s*([A-Z]{5,})\b"
)
"""An id of capital letters only, such as that of a flight. Its name stands before it, since anybody may shout."""
_YEAR_FIRST = re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b")
_YEAR_LAST = re.compile(r"\b(?P<a>\d{1,2})[./-](?P<b>\d{1,2})[./-](?P<y>\d{4}|\d{2})\b")
_DAY_FIRST = re.compile(
    rf"\b(?P<d>\d{{1,2}})(?P<o>st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<n>{_MONTH})\b\.?(?:,?\s+(?P<y>\d{{4}})\b)?"
)
_MONTH_FIRST = re.compile(rf"\b(?P<n>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y>\d{{4}})\b)?")
_TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*(?:am|pm|a\.m\.|p\.m\.)(?!\w)|\b(\d{1,2}):(\d{2})(?::\d{2})?\b")
_ALWAYS = re.compile(r"\b24/7\b")
_CURRENCY = re.compile(r"[$€£¥%]|\b(?:usd|eur|gbp|chf)(?=\d)")
_WITH_UNIT = re.compile(
    r"(\d[\d.,]*)(?:st|nd|rd|th|x|kg|g|mg|l|ml|km|m|cm|mm|mi|lbs?|oz|gb|mb|tb|w|kw|v|h|hrs?|mins?|s|d|usd|eur|gbp|chf|k)"
)
_TOKEN = re.compile(r"[^\W_]+(?:[-_#][^\W_]+|(?<=\d)[.,](?=\d)[^\W_]+)*")
# Not the digits of an id, such as A-10010: with other letters it is another one.
_DIGIT_GROUPS = re.compile(r"(?<![\w.,])(?<!\w[-_#])\+?\d(?:[\d ()/-]*\d)?(?![.,]?\d)")
_FEWEST_JOINED = 5
"""Digits from which a number that is written in groups, such as that of a telephone or a card, is one fact."""
_NOTATIONS = (
    (re.compile(r"\d+(?:\.\d+)?"), ""),
    (re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"), ","),
    (re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"), "."),
    (re.compile(r"\d+,\d+"), "."),
)
"""How numbers are written, each with what divides thousands. A text may be read in several ways."""


class Fact(NamedTuple):
    """A fact of a text: how it is written there, and what it may be. A common value makes two facts equal."""

    kind: str
    text: str
    values: frozenset[Any]


@dataclass(slots=True)
class KnownFacts:
    """What the sources state."""

    values: dict[str, set[Any]] = field(default_factory=dict)
    digits: set[str] = field(default_factory=set)
    """Numbers in groups, as digits only."""
    words: set[str] = field(default_factory=set)

    def states(self, fact: Fact) -> bool:
        known = self.values.get(fact.kind, set())
        if fact.kind == "date":
            return any(_same_date(one, other) for one in fact.values for other in known)
        return not fact.values.isdisjoint(known)


def unknown_facts(message: str, sources: Iterable[str]) -> list[str]:
    """Return the facts of the message that stand in none of the sources, as they are written in the message."""
    known = _known(tuple(sources))

    def without_known(match: re.Match[str]) -> str:
        digits = _digits(match[0])
        return " " if len(digits) >= _FEWEST_JOINED and digits in known.digits else match[0]

    folded = _DIGIT_GROUPS.sub(without_known, _ALWAYS.sub(" ", _fold(message)))
    unknown = [fact.text for fact in _facts(folded) if not known.states(fact) and fact.text != "one"]
    unknown += [match[0] for match in _STREET.finditer(message) if _street_name(match) not in known.words]
    unknown += [match[1] for match in _LETTERS_ID.finditer(message) if match[1].casefold() not in known.words]
    return list(dict.fromkeys(_without_halves(unknown, folded, known)))


def _without_halves(unknown: Sequence[str], folded: str, known: KnownFacts) -> Iterator[str]:
    """Yield the facts that are not a half of an id that the sources write as one word."""
    tokens = _TOKEN.findall(folded)
    ids = known.values.get("id", set())
    halves = {half for one, other in pairwise(tokens) if _compact(one + other) in ids for half in (one, other)}
    return (text for text in unknown if text not in halves)


@lru_cache(maxsize=8)
def _known(sources: tuple[str, ...]) -> KnownFacts:
    known = KnownFacts()
    for source in sources:
        folded = _fold(source)
        known.words.update(re.findall(r"[\w'’-]+", folded))
        known.digits.update(_digits(match[0]) for match in _DIGIT_GROUPS.finditer(folded))
        for fact in _facts(folded):
            known.values.setdefault(fact.kind, set()).update(fact.values)
            if fact.kind != "number":  # the year of a date, the digits of an id
                numbers = {Decimal(digits).normalize() for digits in re.findall(r"\d+", fact.text)}
                known.values.setdefault("number", set()).update(numbers)
        tokens = _TOKEN.findall(folded)
        joined = {_compact(one + other) for one, other in pairwise(tokens) if _has_digit(one + other)}
        known.values.setdefault("id", set()).update(joined)
    return known


def _fold(text: str) -> str:
    return text.casefold().replace("\u2011", "-").replace("\u2013", "-").replace("\u00a0", " ")


def _facts(text: str) -> Iterator[Fact]:
    """Yield the facts of a folded text. What belongs to one is not looked at again."""
    for kind, pattern in (("email", _EMAIL), ("web", _WEB)):
        for match in pattern.finditer(text):
            address = match[0].rstrip(".,;:!?")
            yield Fact(kind, address, frozenset({re.sub(r"^(?:https?://)?(?:www\.)?", "", address).rstrip("/")}))
        text = pattern.sub(" ", text)
    for match in _WEEKDAY.finditer(text):
        yield Fact("weekday", match[0], frozenset({match[0].removesuffix("s")}))
    for pattern in (_YEAR_FIRST, _YEAR_LAST, _DAY_FIRST, _MONTH_FIRST):
        for match in list(pattern.finditer(text)):
            if dates := _dates(match):
                yield Fact("date", match[0], dates)
                text = text.replace(match[0], " ", 1)
    for match in _TIME.finditer(text):
        hour, minute = (match[1], match[2]) if match[1] else (match[3], match[4])
        # On a clock of twelve hours, since texts leave out which half of the day it is.
        yield Fact("time", match[0], frozenset({(int(hour) % 12, int(minute or 0))}))
    tokens = _TOKEN.findall(_CURRENCY.sub(" ", _TIME.sub(" ", text)))
    yield from _spelled(tokens)
    yield from (_fact(token) for token in tokens if _has_digit(token))


def _dates(match: re.Match[str]) -> frozenset[tuple[int | None, int, int]]:
    parts = match.groupdict()
    year = int(parts["y"]) if parts["y"] else None
    if year is not None and year < 100:
        year += 2000
    if "a" in parts:  # the day or the month comes first
        first, second = int(parts["a"]), int(parts["b"])
        days = [(first, second), (second, first)]
    elif "m" in parts:
        days = [(int(parts["m"]), int(parts["d"]))]
    elif parts["n"] == "may" and "o" in parts and not (parts["o"] or year):
        return frozenset()  # "order 12 may be late"
    else:
        days = [(_MONTHS[parts["n"]], int(parts["d"]))]
    return frozenset((year, month, day) for month, day in days if 1 <= month <= 12 and 1 <= day <= 31)


def _same_date(one: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or None in (one[0], other[0]))


def _fact(token: str) -> Fact:
    with_unit = _WITH_UNIT.fullmatch(token)
    values = _values(with_unit[1] if with_unit else token)
    return Fact("number", token, values) if values else Fact("id", token, frozenset({_compact(token)}))


def _values(text: str) -> frozenset[Decimal]:
    """Return what a number may be: a comma or a point divides thousands in one country, and decimals in another."""
    return frozenset(
        Decimal(text.replace(thousands, "").replace(",", ".") if thousands else text).normalize()
        for pattern, thousands in _NOTATIONS
        if text.isascii() and pattern.fullmatch(text)
    )


def _spelled(tokens: Sequence[str]) -> Iterator[Fact]:
    """Yield each number in words, such as twenty-five or two hundred."""
    words: list[str] = []
    for word in [*(part for token in tokens for part in token.split("-")), ""]:
        if word in _SPELLED or (words and word in _SCALES):
            words.append(word)
            continue
        if words:
            yield Fact("number", " ".join(words), frozenset({Decimal(_spelled_number(words)).normalize()}))
        words = []


def _spelled_number(words: Sequence[str]) -> int:
    total = current = 0
    for word in words:
        scale = _SCALES.get(word)
        if scale is None:
            current += _SPELLED[word]
        elif scale == 100:
            current *= scale
        else:
            total, current = total + current * scale, 0
    return total + current


def _street_name(match: re.Match[str]) -> str:
    return (match[1] or match[2]).casefold()


def _has_digit(token: str) -> bool:
    return any(character.isdigit() for character in token)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _compact(token: str) -> str:
    return re.sub(r"[\W_]", "", token)
