"""The facts in a text: numbers, ids, dates, times and addresses, in a form in which equal ones are equal. Pure.

`unknown_facts(message, sources)` returns those of a message that no source states. A fact is the same in another
notation: 1,299.00 and 1299, A1001 and a-1001, 15 November 2026 and 2026-11-15, two and 2. Relative dates (yesterday)
and holidays are no facts; `one`, `first` and `second` are none in a message: they are mostly other words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from salvo.scenarios.run.conversation.spelled_numbers import DAYS, spelled_numbers

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
_MONTH_ALONE = re.compile(
    r"\b(?:in|since|until|till|early|late|mid|last|next|of)[\s-]+(?P<after>" + _MONTH + r")\b"
    r"|\b(?P<name>january|february|july|september|october|november|december)\b"
    r"|\b\d{4}-(?P<digits>\d{2})\b(?!-)|\b(?P<first>\d{1,2})/\d{4}\b"
)
"""A month without a day. The names of some are also other words: may, march, april."""
_WEEKDAY = re.compile(
    r"\b(?P<name>mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?P<short>tues?|thu(?:rs?)?|fri)\b"
    r"|\b(?:on|last|next|by)\s+(?P<after>mon|wed|sat|sun)\b"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_TOP_LEVEL = (
    "com|org|net|io|edu|gov|info|co|de|uk|fr|eu|app|dev|ai|shop|biz|ch|nl|es|pl|se|dk|jp|cn|br|au|ca|ru|xyz|online|site|"
    "store|tech|cloud|example"
)
_SPELLED_DOT = re.compile(rf"(?<=\w)\s*[\[(]?\bdot\b[\])]?\s*(?=(?:{_TOP_LEVEL})\b)")
_WEB = re.compile(
    rf"(?:https?://|www\.)[^\s<>\"')\]]+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_LEVEL})\b(?:/[^\s<>\"')\]]*)?"
    r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/[^\s<>\"')\]]+"
)
_STREET = re.compile(
    r"\b([A-Z][\w'’-]*)\s+(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Drive|Terrace|Crescent|Highway|Parkway|"
    r"Gardens|Square|Court|Alley)(?!\w)"
    r"|\b([A-ZÄÖÜ][\w-]*(?:straße|strasse|str\.|gasse|allee|platz))(?!\w)"
    r"|\b(?:Rue|Calle|Piazza|Avenida)\s+(?:(?:de|del|della|la|du|des)\s+)*([A-Z][\w'’-]*)"
    r"|\b(?:on|at|in|to)\s+(?!(?:the|this|that|my|your|our|their|a|same|wrong|which|what|another|every|any)\b)"
    r"([a-z][\w'’-]*)\s+(?:street|avenue|boulevard)\b"
)
_LETTERS_ID = re.compile(
    r"\b(?:ID|[Ii]d|[Cc]ode|[Nn]umber|[Rr]eference)(?:\s*[:#]\s*|\s+(?:(?:is|was)\s+)?)([A-Z][A-Z-]+[A-Z])\b"
    r"|\b(?:[Bb]ooking|[Oo]rder|[Vv]oucher)(?:\s*[:#]|\s+(?:is|was))\s*([A-Z]{5,}|[A-Z]+-[A-Z]+)\b"
)
"""An id of capital letters only, such as that of a flight. Its name stands before it, since anybody may shout."""
_SHOUTED = frozenset(
    [
        *("broken", "correct", "fine", "gone", "here", "invalid", "late", "mine", "missing", "never", "not", "please"),
        *("really", "still", "the", "unknown", "wrong", "yours"),
    ]
)
_YEAR_FIRST = re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b")
_YEAR_LAST = re.compile(r"\b(?P<a>\d{1,2})[./-](?P<b>\d{1,2})[./-](?P<y>\d{4}|\d{2})\b")
_DAY_WORD = "|".join(sorted(DAYS, key=len, reverse=True))
_DAY_FIRST = re.compile(
    rf"\b(?P<d>\d{{1,2}}|{_DAY_WORD})(?P<o>st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<n>{_MONTH})\b\.?(?:,?\s+(?P<y>\d{{4}})\b)?"
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<n>{_MONTH})\.?\s+(?:the\s+)?(?P<d>\d{{1,2}}|{_DAY_WORD})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y>\d{{4}})\b)?"
)
_TIME = re.compile(
    r"\b(\d{1,2})(?:[:.](\d{2}))?\s*(?:am|pm|a\.m\.|p\.m\.)(?!\w)|\b(\d{1,2}):(\d{2})(?::\d{2})?\b|\b(?:noon|midnight)\b"
)
_FIGURE_OF_SPEECH = re.compile(
    r"\b24/7\b|\b50/50\b|\bfifty-fifty\b|\b100\s?(?:%|per\s?cent)\s+(?:sure|certain|positive|right|correct)\b"
    r"|\b(?:hundred|thousand|million)\s+(?:times|thanks)\b|\bthanks a million\b"
)
_CURRENCY = re.compile(r"[$€£¥%]|\b(?:usd|eur|gbp|chf)(?=\d)")
_AMOUNT = re.compile(
    r"[$€£]\s?(?P<after>\d[\d.,]*)(?<![.,])(?!\w)"
    r"|(?<![\w.,-])(?P<before>\d[\d.,]*)\s?(?:[$€£]|(?:dollars?|euros?|pounds|usd|eur|gbp)\b)"
)
"""An amount of money. What a date, a time or an id has in it is a number, but nobody's price."""
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
    parts: tuple[Fact, ...] = ()
    """What it consists of; it is known, too, if each of them is."""


@dataclass(slots=True)
class KnownFacts:
    """What the sources state."""

    values: dict[str, set[Any]] = field(default_factory=dict)
    digits: set[str] = field(default_factory=set)
    """Numbers in groups, as digits only."""
    words: set[str] = field(default_factory=set)

    def states(self, fact: Fact) -> bool:
        values = self.values.get(fact.kind, set())
        if fact.kind == "date":
            return any(_same_date(one, other) for one in fact.values for other in values)
        return not fact.values.isdisjoint(values) or (bool(fact.parts) and all(map(self.states, fact.parts)))

    def add(self, kind: str, values: Iterable[Any]) -> None:
        self.values.setdefault(kind, set()).update(values)


def unknown_facts(message: str, sources: Iterable[str]) -> list[str]:
    """Return the facts of the message that stand in none of the sources, as they are written in the message."""
    known_facts = _known(tuple(sources))

    def without_known(match: re.Match[str]) -> str:
        digits = _digits(match[0])
        return " " if len(digits) >= _FEWEST_JOINED and digits in known_facts.digits else match[0]

    folded = _DIGIT_GROUPS.sub(without_known, _FIGURE_OF_SPEECH.sub(" ", _fold(message)))
    unknown = [fact.text for fact in _facts(folded) if not known_facts.states(fact) and fact.text != "one"]
    unknown += [text for text, values in _amounts(folded) if values.isdisjoint(known_facts.values.get("amount", set()))]
    unknown += [match[0] for match in _STREET.finditer(message) if _street_name(match) not in known_facts.words]
    names = [match[1] or match[2] for match in _LETTERS_ID.finditer(message)]
    unknown += [name for name in names if name.casefold() not in known_facts.words | _SHOUTED]
    return list(dict.fromkeys(_without_halves(unknown, folded, known_facts)))


def _without_halves(unknown: Sequence[str], folded: str, known_facts: KnownFacts) -> Iterator[str]:
    """Yield the facts that are not a half of an id that the sources write as one word."""
    tokens = _TOKEN.findall(folded)
    ids = known_facts.values.get("id", set())
    halves = {half for one, other in pairwise(tokens) if _compact(one + other) in ids for half in (one, other)}
    return (text for text in unknown if text not in halves)


@lru_cache(maxsize=8)
def _known(sources: tuple[str, ...]) -> KnownFacts:
    facts = KnownFacts()
    for source in sources:
        folded = _fold(source)
        facts.words.update(re.findall(r"[\w'’-]+", folded))
        facts.digits.update(_digits(match[0]) for match in _DIGIT_GROUPS.finditer(folded))
        for fact in _facts(folded):
            facts.add(fact.kind, fact.values)
            facts.add("number", _numbers_in(fact))
            facts.add("amount", fact.values if fact.kind == "number" else ())
            if fact.kind == "date":
                facts.add("month", (month for _, month, _ in fact.values))
            elif fact.kind == "email":
                facts.add("web", (address.partition("@")[2] for address in fact.values))
        tokens = _TOKEN.findall(folded)
        joined = {_compact(one + other) for one, other in pairwise(tokens) if _has_digit(one + other)}
        facts.add("id", joined)
    return facts


def _numbers_in(fact: Fact) -> Iterator[Decimal]:
    """Yield the numbers in a fact of another kind: the year and the day of a date, the hour, the digits of an id."""
    if fact.kind == "number":
        return
    if fact.kind == "date":
        yield from (Decimal(number).normalize() for year, _, day in fact.values for number in (year, day) if number)
        return
    yield from (Decimal(digits).normalize() for digits in re.findall(r"\d+", fact.text))
    if fact.kind == "time":
        yield from (Decimal(hour or 12).normalize() for hour, _ in fact.values)


def _fold(text: str) -> str:
    text = text.casefold().replace("\u2011", "-").replace("\u2013", "-").replace("\u00a0", " ")
    # +44 (0)20: the zero is dialled in the country only.
    return _SPELLED_DOT.sub(".", text.replace("(0)", ""))


def _facts(text: str) -> Iterator[Fact]:
    """Yield the facts of a folded text. What belongs to one is not looked at again."""
    for kind, pattern in (("email", _EMAIL), ("web", _WEB)):
        for match in pattern.finditer(text):
            address = match[0].rstrip(".,;:!?")
            yield Fact(kind, address, frozenset({re.sub(r"^(?:https?://)?(?:www\.)?", "", address).rstrip("/")}))
        text = pattern.sub(" ", text)
    dated = list(_calendar_facts(text))
    yield from dated
    for fact in dated:
        if fact.kind == "date":
            text = text.replace(fact.text, " ", 1)
    for match in _TIME.finditer(text):
        hour, minute = (match[1], match[2]) if match[1] else (match[3], match[4])
        # On a clock of twelve hours, since texts leave out which half of the day it is.
        yield Fact("time", match[0], frozenset({(int(hour or 12) % 12, int(minute or 0))}))
    text = _CURRENCY.sub(" ", _TIME.sub(" ", text))
    for spelled in spelled_numbers(text):
        parts = (Fact("number", str(part), frozenset({Decimal(part).normalize()})) for part in spelled.parts)
        yield Fact("number", spelled.text, spelled.values, tuple(parts) if len(spelled.parts) > 1 else ())
    yield from (_fact(token) for token in _TOKEN.findall(text) if _has_digit(token))


def _calendar_facts(text: str) -> Iterator[Fact]:
    """Yield weekdays, dates, and months without a day."""
    for match in _WEEKDAY.finditer(text):
        name = match["name"] or match["short"] or match["after"]
        yield Fact("weekday", match[0], frozenset({name[:3]}))
    for pattern in (_YEAR_FIRST, _YEAR_LAST, _DAY_FIRST, _MONTH_FIRST):
        for match in list(pattern.finditer(text)):
            if dates := _dates(match):
                yield Fact("date", match[0], dates)
                text = text.replace(match[0], " ", 1)
    for match in _MONTH_ALONE.finditer(text):
        if month := _month(match):
            yield Fact("month", match[0], frozenset({month}))


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
    elif parts["n"] == "may" and not year and not (parts.get("o") if "o" in parts else parts["d"].isdigit()):
        return frozenset()  # "order 12 may be late", "you may first ask"
    else:
        days = [(_MONTHS[parts["n"]], DAYS.get(parts["d"]) or int(parts["d"]))]
    return frozenset((year, month, day) for month, day in days if 1 <= month <= 12 and 1 <= day <= 31)


def _month(match: re.Match[str]) -> int:
    name, digits = match["after"] or match["name"], match["digits"] or match["first"]
    month = _MONTHS[name] if name else int(digits)
    return month if month <= 12 else 0


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


def _amounts(text: str) -> Iterator[tuple[str, frozenset[Decimal]]]:
    """Yield each amount of money of a folded text, and what it may be."""
    for match in _AMOUNT.finditer(text):
        yield match[0], _values(match["after"] or match["before"])


def _street_name(match: re.Match[str]) -> str:
    return next(name for name in match.groups() if name).casefold()


def _has_digit(token: str) -> bool:
    """Return whether a digit is in it, of any script, or a sign such as ½ or Ⅳ."""
    return any(character.isdigit() or unicodedata.category(character) in {"Nl", "No"} for character in token)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _compact(token: str) -> str:
    return re.sub(r"[\W_]", "", token)
