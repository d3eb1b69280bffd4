"""Fold what differs between a passage and a faithful copy of it, and map positions back to the original text.

Folding covers white space, bullets and other marks at the start of a line, Markdown's bold, quotation marks, dashes
and the ellipsis, and what `folded_text` covers: invisible characters and look-alike letters. It never changes case, or
words as a reader sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from salvo.engine.jsonio.canonical import escape_surrogates
from salvo.playbooks.evaluate.folded_text import FoldedText, OffsetMap, Replacement, with_replacements
from salvo.playbooks.evaluate.inputs import Span

_QUOTES = "\"'`´‘’‚‛“”„‟′″‹›«»"  # noqa: RUF001 - the look-alikes are the subject
_DASHES = "-‐‑‒–—―−"  # noqa: RUF001 - as above
_ONE_TO_ONE = str.maketrans(_QUOTES + _DASHES, "'" * len(_QUOTES) + "-" * len(_DASHES))

# Quantifiers are possessive, so that a megabyte of blanks takes linear time.
_GAP = r"\s"
_TO_LINE_END = r"[^\S\n]*+\n"
# A copy often has a list on one line, so a separate bullet counts anywhere; other marks only at the start of a line.
_BULLETS = r"•‣◦⁃▪▫●○■□·*\-"  # noqa: RUF001 - as above
_BULLET = rf"(?:[{_BULLETS}]{_GAP}++)"
_MARK = rf"(?:{_BULLET}|(?:\#{{1,6}}|[>+]){_GAP}++)"
_NUMBER = rf"(?:\(?(?:\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{2,5}})[.)]{_GAP}++)"
_LIST_LINE = rf"(?:(?<=[.:;,!?)]){_TO_LINE_END}|{_TO_LINE_END}{_TO_LINE_END}){_GAP}*+{_MARK}*+{_NUMBER}{_MARK}*+"
_FOLDED = (
    rf"(?P<line>{_TO_LINE_END}{_GAP}*+{_MARK}*+)"
    rf"|(?P<start>\A{_GAP}*+{_MARK}++)"
    rf"|(?P<gap>\x20(?:{_GAP}++{_BULLET}*+|{_BULLET}++)|[^\S\x20]{_GAP}*+{_BULLET}*+)"
    r"|(?P<dots>\.{3,}+)"
    r"|(?P<bold>(?<![*\s])\*\*(?!\*)|(?<!\*)\*\*(?![*\s]))"
    r"|(?P<odd>[\ud800-\udfff])"
)
_NUMBERED = rf"(?P<list>{_LIST_LINE})|(?P<first>\A{_GAP}*+{_MARK}*+{_NUMBER}{_MARK}*+)"
# A quick check that skips most characters.
_BEGINS = rf"(?:\A|(?=[^\S\x20]|\x20[{_BULLETS}\s]|[.*\ud800-\udfff]))"
_WITH_NUMBERS = re.compile(rf"{_BEGINS}(?:{_NUMBERED}|{_FOLDED})")
_WITHOUT_NUMBERS = re.compile(rf"{_BEGINS}(?:{_FOLDED})")
_REPLACEMENTS = {"line": " ", "list": " ", "gap": " ", "dots": "…", "start": "", "first": "", "bold": ""}


class Folded:
    """A folded text. With `numbers`, list numbers are folded too, if they are not part of a sentence.

    A number at the start of a line may be the end of a wrapped sentence ("in\\n2025. The ..."). It is a list number
    only after a blank line, or after a line that ends with punctuation.
    """

    __slots__ = ("_map", "look_alikes", "text")

    def __init__(self, text: str, *, numbers: bool = False, like: Folded | None = None) -> None:
        """Fold the text. A quote is folded `like` the text that it is searched in."""
        self.look_alikes: FoldedText = FoldedText(text, like.look_alikes if like else None)
        plain = self.look_alikes.text.translate(_ONE_TO_ONE)
        replacements = list(_replacements(plain, _WITH_NUMBERS if numbers else _WITHOUT_NUMBERS))
        self._map = OffsetMap(replacements)
        self.text = with_replacements(plain, replacements)

    def origin(self, start: int, end: int) -> Span:
        """Return the original position of a part of the folded text (at least one character)."""
        return self.look_alikes.origin(*self._map.origin(start, end))


def _replacements(text: str, tokens: re.Pattern[str]) -> Iterator[Replacement]:
    for token in tokens.finditer(text):
        replacement = _REPLACEMENTS.get(token.lastgroup or "")
        if replacement is None:
            replacement = escape_surrogates(token.group())
        yield Replacement(*token.span(), replacement)
