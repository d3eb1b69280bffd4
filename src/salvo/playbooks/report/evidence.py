"""Evidence: whether a judge's quote stands in the text, and where. Never by likeness: it is there or it is not."""

from __future__ import annotations

from functools import cached_property
from itertools import islice

from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.report.normalization import Folded

FEWEST_LETTERS = 3
"""A quote with fewer proves nothing: it stands in any text."""

_MOST_LOOKS = 50


def locate(text: str, span: str) -> Span | None:
    return Locator(text).find(span)


class Locator:
    """Finds quotes in one text. The text is folded once, and only if a quote is not found as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, span: str) -> Span | None:
        """Where the quote stands: exactly, or else after folding both (see `folding`).

        A quote that leaves something out ("A … B") is not found unless the text itself has the ellipsis. Both
        halves may be true and the whole still say what the text does not.
        """
        if not _says_something(span):
            return None
        at = _occurrence(self._text, span)
        if at >= 0:
            return Span(at, at + len(span))
        plain = Folded(span).text.strip()
        return self._find_folded(self._folded, plain) or (
            # Numbers of a list may be left out of a quote, but those that are there must be right.
            self._find_folded(self._without_numbers, plain)
            if Folded(span, numbers=True).text.strip() == plain
            else None
        )

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self._text)

    @cached_property
    def _without_numbers(self) -> Folded:
        return Folded(self._text, numbers=True)

    @staticmethod
    def _find_folded(folded: Folded, quote: str) -> Span | None:
        for wanted in (quote, _unwrapped(quote)):
            at = _occurrence(folded.text, wanted)
            if at >= 0:
                return folded.origin(at, at + len(wanted))
        return None


def _says_something(span: str) -> bool:
    letters = (character for character in span if character.isalpha())
    return len(list(islice(letters, FEWEST_LETTERS))) == FEWEST_LETTERS


def _occurrence(text: str, quote: str) -> int:
    """The first one that neither begins nor ends inside a word ("legal" is not "illegal"), else the first; -1 for none.

    Only so many are looked at: a text of repeats must not make this quadratic.
    """
    first = at = text.find(quote)
    for _ in range(_MOST_LOOKS):
        if at < 0:
            break
        if not _cuts_a_word(text, at) and not _cuts_a_word(text, at + len(quote)):
            return at
        at = text.find(quote, at + 1)
    return first


def _cuts_a_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _unwrapped(quote: str) -> str:
    """Without the quotation marks and the ellipsis that a judge puts round a quote."""
    bare = quote.strip(" '")
    if bare.endswith(("…", "…]")):
        bare = bare.rstrip(" '…[]")
    if bare.startswith(("…", "[…")):
        bare = bare.lstrip(" '…[]")
    return bare
