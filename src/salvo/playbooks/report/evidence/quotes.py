"""Find an evaluator's quote in the text. There is no fuzzy matching: a quote is there or it is not."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.report.evidence.normalization import Folded

MIN_LETTERS = 3
"""A shorter quote proves nothing, because it occurs in almost any text."""

MAX_LOCATIONS = 500
"""Places of one quote that are kept: a hostile evaluator may quote a word that occurs a million times."""

_MAX_OVERLAPS = 50


class QuoteOccurrences(NamedTuple):
    places: tuple[Span, ...] = ()
    """In the order of the text, MAX_LOCATIONS at most."""
    total: int = 0


class Locator:
    """Finds quotes in one text. The text is folded once, and each quote is searched once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._results: dict[str, QuoteOccurrences] = {}

    def find(self, span: str) -> QuoteOccurrences:
        """Return where the quote is, verbatim or after folding both (see `normalization`).

        A quote that omits something ("A … B") is found only if the text itself has the ellipsis: both parts may be
        right, and together still say something that the text does not say.
        """
        if span not in self._results:
            places = self._search(span) if has_enough_letters(span) else []
            self._results[span] = QuoteOccurrences(tuple(places[:MAX_LOCATIONS]), len(places))
        return self._results[span]

    def _search(self, span: str) -> list[Span]:
        verbatim, inside_words = _occurrences(self._text, span)
        plain = Folded(span, like=self._folded).text.strip()
        if verbatim:
            # Other places may differ in what folding removes, such as line breaks.
            return _merged(verbatim, self._find_folded(self._folded, plain, whole_words=True))
        if inside_words:
            return inside_words
        return self._find_folded(self._folded, plain) or (
            # A quote may omit list numbers, but the numbers that it has must be right.
            self._find_folded(self._without_numbers, plain)
            if Folded(span, numbers=True, like=self._folded).text.strip() == plain
            else []
        )

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self._text)

    @cached_property
    def _without_numbers(self) -> Folded:
        return Folded(self._text, numbers=True)

    @staticmethod
    def _find_folded(folded: Folded, quote: str, *, whole_words: bool = False) -> list[Span]:
        for candidate in dict.fromkeys((quote, _unwrapped(quote))):
            places, inside_words = _occurrences(folded.text, candidate)
            if places or (inside_words and not whole_words):
                return [folded.origin(*place) for place in places or inside_words]
        return []


def has_enough_letters(span: str) -> bool:
    letters = (character for character in span if character.isalpha())
    return len(list(islice(letters, MIN_LETTERS))) == MIN_LETTERS


def _occurrences(text: str, quote: str) -> tuple[list[Span], list[Span]]:
    """Return where the quote occurs as whole words, and where only inside words ("legal" in "illegal").

    Places do not overlap. Few places inside words are examined for overlaps with a whole word, so that repetitive text
    does not take quadratic time.
    """
    whole_words: list[Span] = []
    inside_words: list[Span] = []
    overlaps = 0
    at = text.find(quote)
    while at >= 0:
        end = at + len(quote)
        if not _cuts_a_word(text, at) and not _cuts_a_word(text, end):
            whole_words.append(Span(at, end))
            at = text.find(quote, end)
            continue
        if not inside_words or at >= inside_words[-1].end:
            inside_words.append(Span(at, end))
        overlaps += 1
        at = text.find(quote, at + 1 if overlaps <= _MAX_OVERLAPS else inside_words[-1].end)
    return whole_words, inside_words


def _merged(verbatim: list[Span], folded: list[Span]) -> list[Span]:
    """Return all places in order. Where a verbatim and a folded one overlap, the verbatim one stands."""
    starts = [place.start for place in verbatim]
    others = []
    for place in folded:
        index = bisect_left(starts, place.end) - 1
        if index < 0 or verbatim[index].end <= place.start:
            others.append(place)
    return sorted([*verbatim, *others])


def _cuts_a_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _unwrapped(quote: str) -> str:
    """Remove the quotation marks and the ellipsis that an evaluator puts around a quote."""
    bare = quote.strip(" '")
    if bare.endswith(("…", "…]")):
        bare = bare.rstrip(" '…[]")
    if bare.startswith(("…", "[…")):
        bare = bare.lstrip(" '…[]")
    return bare


def is_same_passage(first: str, second: str) -> bool:
    """Return whether two places of a text have the same letters, apart from what a quote may leave out."""
    return any(
        _letters(Folded(first, numbers=numbers)) == _letters(Folded(second, numbers=numbers))
        for numbers in (False, True)
    )


def _letters(folded: Folded) -> str:
    return "".join(filter(str.isalpha, folded.text))
