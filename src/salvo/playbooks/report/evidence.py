"""Find an evaluator's quote in the text. There is no fuzzy matching: a quote is there or it is not."""

from __future__ import annotations

from functools import cached_property
from itertools import islice

from salvo.playbooks.evaluate.inputs import Span
from salvo.playbooks.report.normalization import Folded

MIN_LETTERS = 3
"""A shorter quote proves nothing, because it occurs in almost any text."""

_MAX_OCCURRENCES = 50


class Locator:
    """Finds quotes in one text. The text is folded once, and only if a quote is not found verbatim."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, span: str) -> Span | None:
        """Return where the quote is, verbatim or after folding both (see `normalization`), or None.

        A quote that omits something ("A … B") is found only if the text itself has the ellipsis: both parts may be
        right, and together still say something that the text does not say.
        """
        letters = (character for character in span if character.isalpha())
        if len(list(islice(letters, MIN_LETTERS))) < MIN_LETTERS:
            return None
        start = _find_occurrence(self._text, span)
        if start >= 0:
            return Span(start, start + len(span))
        plain = Folded(span, like=self._folded).text.strip()
        return self._find_folded(self._folded, plain) or (
            # A quote may omit list numbers, but the numbers that it has must be right.
            self._find_folded(self._without_numbers, plain)
            if Folded(span, numbers=True, like=self._folded).text.strip() == plain
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
        for candidate in (quote, _unwrapped(quote)):
            start = _find_occurrence(folded.text, candidate)
            if start >= 0:
                return folded.origin(start, start + len(candidate))
        return None


def _find_occurrence(text: str, quote: str) -> int:
    """Return the first occurrence that does not start or end inside a word ("legal" is not "illegal").

    If there is none, return the first occurrence, or -1. The number of occurrences examined is limited, so that
    repetitive text does not take quadratic time.
    """
    first = at = text.find(quote)
    for _ in range(_MAX_OCCURRENCES):
        if at < 0:
            break
        if not _cuts_a_word(text, at) and not _cuts_a_word(text, at + len(quote)):
            return at
        at = text.find(quote, at + 1)
    return first


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
