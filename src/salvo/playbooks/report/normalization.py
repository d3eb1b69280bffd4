"""Fold what differs between a passage and a faithful copy of it, and map positions back to the original text.

Folding covers white space, bullets and other marks at the start of a line, Markdown's bold, quotation marks, dashes,
the ellipsis and invisible characters. It never changes words or case.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from salvo.engine.jsonio.canonical import escape_surrogates
from salvo.playbooks.evaluate.inputs import Span

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
"""For use in a character class: zero-width and bidi characters, the soft hyphen, variation selectors, tags."""

_QUOTES = "\"'`´‘’‚‛“”„‟′″‹›«»"  # noqa: RUF001 - the look-alikes are the subject
_DASHES = "-‐‑‒–—―−"  # noqa: RUF001 - as above
_ONE_TO_ONE = str.maketrans(_QUOTES + _DASHES, "'" * len(_QUOTES) + "-" * len(_DASHES))

# Quantifiers are possessive, so that a megabyte of blanks takes linear time.
_GAP = rf"[\s{INVISIBLE}]"
_TO_LINE_END = rf"(?:[^\S\n]|[{INVISIBLE}])*+\n"
# A copy often has a list on one line, so a separate bullet counts anywhere; other marks only at the start of a line.
_BULLETS = r"•‣◦⁃▪▫●○■□·*\-"  # noqa: RUF001 - as above
_BULLET = rf"(?:[{_BULLETS}]{_GAP}++)"
_MARK = rf"(?:{_BULLET}|(?:\#{{1,6}}|[>+]){_GAP}++)"
_NUMBER = rf"(?:\(?(?:\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{2,5}})[.)]{_GAP}++)"
_LIST_LINE = rf"(?:(?<=[.:;,!?)]){_TO_LINE_END}|{_TO_LINE_END}{_TO_LINE_END}){_GAP}*+{_MARK}*+{_NUMBER}{_MARK}*+"
_FOLDED = (
    rf"(?P<line>{_TO_LINE_END}{_GAP}*+{_MARK}*+)"
    rf"|(?P<start>\A{_GAP}*+{_MARK}++)"
    rf"|(?P<unseen>[{INVISIBLE}]++(?!\s))"
    rf"|(?P<gap>\x20(?:{_GAP}++{_BULLET}*+|{_BULLET}++)|[^\S\x20]{_GAP}*+{_BULLET}*+|[{INVISIBLE}]{_GAP}++{_BULLET}*+)"
    r"|(?P<dots>\.{3,}+)"
    r"|(?P<bold>(?<![*\s])\*\*(?!\*)|(?<!\*)\*\*(?![*\s]))"
    r"|(?P<odd>[\ud800-\udfff])"
)
_NUMBERED = rf"(?P<list>{_LIST_LINE})|(?P<first>\A{_GAP}*+{_MARK}*+{_NUMBER}{_MARK}*+)"
# A quick check that skips most characters.
_BEGINS = rf"(?:\A|(?=[^\S\x20]|\x20[{_BULLETS}\s{INVISIBLE}]|[.*\ud800-\udfff{INVISIBLE}]))"
_WITH_NUMBERS = re.compile(rf"{_BEGINS}(?:{_NUMBERED}|{_FOLDED})")
_WITHOUT_NUMBERS = re.compile(rf"{_BEGINS}(?:{_FOLDED})")
_REPLACEMENTS = {"line": " ", "list": " ", "gap": " ", "dots": "…", "start": "", "first": "", "unseen": "", "bold": ""}


class Folded:
    """A folded text. With `numbers`, list numbers are folded too, if they are not part of a sentence.

    A number at the start of a line may be the end of a wrapped sentence ("in\\n2025. The ..."). It is a list number
    only after a blank line, or after a line that ends with punctuation.
    """

    __slots__ = ("_ends", "_lengths", "_places", "_starts", "text")

    def __init__(self, text: str, *, numbers: bool = False) -> None:
        # One entry per replaced token: its position and length in the folded text, and its position in the original.
        self._places: list[int] = []
        self._lengths: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.text = self._fold(text.translate(_ONE_TO_ONE), _WITH_NUMBERS if numbers else _WITHOUT_NUMBERS)

    def origin(self, start: int, end: int) -> Span:
        """Return the original position of a part of the folded text (at least one character)."""
        return Span(self._place(start)[0], self._place(end - 1)[1])

    def _fold(self, text: str, tokens: re.Pattern[str]) -> str:
        pieces: list[str] = []
        length = copied_to = 0
        for token in tokens.finditer(text):
            start, end = token.span()
            replacement = _REPLACEMENTS.get(token.lastgroup or "")
            if replacement is None:
                replacement = escape_surrogates(token.group())
            pieces += (text[copied_to:start], replacement)
            length += start - copied_to
            self._places.append(length)
            self._lengths.append(len(replacement))
            self._starts.append(start)
            self._ends.append(end)
            length += len(replacement)
            copied_to = end
        pieces.append(text[copied_to:])
        return "".join(pieces)

    def _place(self, index: int) -> tuple[int, int]:
        """Return the original position of one folded character; for a replaced token, that of the whole token."""
        last = bisect_right(self._places, index) - 1
        if last < 0:
            return index, index + 1
        beyond = index - self._places[last] - self._lengths[last]
        if beyond < 0:
            return self._starts[last], self._ends[last]
        start = self._ends[last] + beyond
        return start, start + 1
