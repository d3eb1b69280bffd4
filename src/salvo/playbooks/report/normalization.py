"""A text without what differs between a passage and a faithful copy of it, and the way back to its code points.

Folded are white space, bullets and other marks of a line's start, Markdown's bold, quotation marks, dashes, the
ellipsis and characters that nobody sees. Words are never touched, and neither is case.
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
"""The inside of a character class: zero-width and bidi characters, the soft hyphen, variation selectors, tags."""

_QUOTES = "\"'`´‘’‚‛“”„‟′″‹›«»"  # noqa: RUF001 - the look-alikes are the subject
_DASHES = "-‐‑‒–—―−"  # noqa: RUF001 - as above
_ONE_TO_ONE = str.maketrans(_QUOTES + _DASHES, "'" * len(_QUOTES) + "-" * len(_DASHES))

# Quantifiers are possessive, so that a megabyte of blanks is walked once and not once from each of them.
_GAP = rf"[\s{INVISIBLE}]"
_TO_LINE_END = rf"(?:[^\S\n]|[{INVISIBLE}])*+\n"
# A copy often has a list in one line, so a bullet that stands alone is one anywhere; other marks only begin lines.
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
# Most characters begin nothing of this: they are passed over by one look.
_BEGINS = rf"(?:\A|(?=[^\S\x20]|\x20[{_BULLETS}\s{INVISIBLE}]|[.*\ud800-\udfff{INVISIBLE}]))"
_WITH_NUMBERS = re.compile(rf"{_BEGINS}(?:{_NUMBERED}|{_FOLDED})")
_WITHOUT_NUMBERS = re.compile(rf"{_BEGINS}(?:{_FOLDED})")
_INSTEAD = {"line": " ", "list": " ", "gap": " ", "dots": "…", "start": "", "first": "", "unseen": "", "bold": ""}


class Folded:
    """A text, folded. With `numbers`, list numbers are taken for marks too, where a list can be told from a sentence.

    A number at the start of a line may be the end of a sentence that was wrapped ("in\\n2025. The ..."): it is a mark
    only after a blank line, or after a line that ends as clauses do.
    """

    __slots__ = ("_ends", "_lengths", "_places", "_starts", "text")

    def __init__(self, text: str, *, numbers: bool = False) -> None:
        # One entry for each token that was replaced: where it came to stand and how long it is there, and its origin.
        self._places: list[int] = []
        self._lengths: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.text = self._fold(text.translate(_ONE_TO_ONE), _WITH_NUMBERS if numbers else _WITHOUT_NUMBERS)

    def origin(self, start: int, end: int) -> Span:
        """Where a part of the folded text (at least one character) stands in the text itself."""
        return Span(self._place(start)[0], self._place(end - 1)[1])

    def _fold(self, text: str, tokens: re.Pattern[str]) -> str:
        pieces: list[str] = []
        length = done = 0
        for found in tokens.finditer(text):
            start, end = found.span()
            instead = _INSTEAD.get(found.lastgroup or "")
            if instead is None:
                instead = escape_surrogates(found.group())
            pieces += (text[done:start], instead)
            length += start - done
            self._places.append(length)
            self._lengths.append(len(instead))
            self._starts.append(start)
            self._ends.append(end)
            length += len(instead)
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    def _place(self, index: int) -> tuple[int, int]:
        """Where one folded character comes from: the whole token where it stands for one."""
        last = bisect_right(self._places, index) - 1
        if last < 0:
            return index, index + 1
        beyond = index - self._places[last] - self._lengths[last]
        if beyond < 0:
            return self._starts[last], self._ends[last]
        start = self._ends[last] + beyond
        return start, start + 1
