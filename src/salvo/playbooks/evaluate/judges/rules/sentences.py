"""Split a text into sentences, each with its kind, its exact span, and its heading or lead-in.

Every step takes linear time: patterns are bounded, and unusually long sentences are split.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Literal, TypeAlias

from salvo.playbooks.evaluate.judges.rules.finding import Span

QUOTED = "qqq"
"""Replaces quoted words in a folded sentence."""

_MAX_SENTENCE = 900
_MAX_QUOTATION = 1500
_SHORT_QUOTATION_WORDS = 3
_SHORT_LINE = 8
_TITLE_LINE = 14


class Kind(Enum):
    """The kind of block that contains a sentence."""

    PROSE = "prose"
    ITEM = "list item"
    CELL = "table cell"
    HEADING = "heading"
    """It asserts nothing."""
    QUOTATION = "quotation"
    """It is not the author's."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `plain` keeps quoted terms of up to three words; in `own` all quotations are masked.

    Both are lower case and on one line, without emphasis marks and invisible characters; contractions are expanded.
    """

    start: int
    end: int
    kind: Kind
    plain: str
    own: str
    heading: str = ""
    lead: str = ""

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def is_question(self) -> bool:
        return self.plain.rstrip("\"') ").endswith("?")

    @property
    def is_authors(self) -> bool:
        """Return whether the author asserts it: it is no heading, quotation or question."""
        return self.kind not in (Kind.HEADING, Kind.QUOTATION) and not self.is_question


# All checks read the same text in a row.
@lru_cache(maxsize=4)
def read(text: str, ignore: tuple[Span, ...] = ()) -> tuple[Sentence, ...]:
    """Return the sentences of a text, in order. Ignored spans count as blank."""
    text = _blanked(text, ignore)
    sentences: list[Sentence] = []
    heading = lead = ""
    for block in _blocks(text):
        if block.kind is Kind.HEADING and not block.column:
            heading, lead = fold(text[block.start : block.end]), ""
        for start, end, quotations in _split(text, block):
            plain, own = _voices(text, start, end, quotations)
            if not plain:
                continue
            under = block.column or heading
            leads_here = lead if block.kind in (Kind.ITEM, Kind.CELL, Kind.QUOTATION) else ""
            sentences.append(Sentence(start, end, block.kind, plain, own, under, leads_here))
        if block.kind in (Kind.PROSE, Kind.ITEM) and sentences:
            if sentences[-1].plain.endswith(":"):
                lead = sentences[-1].plain
            elif block.kind is Kind.PROSE:
                lead = ""
    return tuple(sentences)


def fold(text: str) -> str:
    """Return one lower-case line with plain quotes and dashes, without invisible characters and emphasis marks."""
    text = _INVISIBLE.sub("", text.translate(_TYPOGRAPHY))
    text = _EMPHASIS.sub("", _LINK.sub(r"\1", text))
    text = " ".join(text.lower().split())
    if "'" in text:
        for pattern, expansion in _CONTRACTIONS:
            text = pattern.sub(expansion, text)
    return text.replace("cannot", "can not")


# --- Blocks: paragraphs, list items, table cells, headings, quotations ---


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: Kind
    column: str = ""


_Shape: TypeAlias = Literal["blank", "fence", "row", "hashed", "quote", "listed", "text"]
"""What a line looks like by itself."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not empty. `following` is "" before a blank line and None at the end of the text."""

    start: int
    end: int
    shape: _Shape
    continues: bool
    following: str | None


def _blanked(text: str, ignore: Sequence[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for first, last in sorted(ignore):
        start, end = max(first, position), min(last, len(text))
        if start < end:
            pieces += [text[position:start], _NOT_LINE_END.sub(" ", text[start:end])]
            position = end
    return "".join([*pieces, text[position:]])


def _blocks(text: str) -> Iterator[_Block]:
    columns: list[str] = []
    open_block: _Block | None = None
    for line in _lines(text):
        if line.shape == "text" and line.continues and open_block and open_block.kind is not Kind.HEADING:
            open_block = _Block(open_block.start, line.end, open_block.kind)
            continue
        if open_block:
            yield open_block
        open_block = None
        if line.shape == "row":
            columns = yield from _row(text, line, columns)
            continue
        columns = []
        if line.shape != "blank":
            kind = _kind(text[line.start : line.end], line.shape, line.following)
            open_block = _Block(*_content_span(text, line), kind)
    if open_block:
        yield open_block


def _row(text: str, row: _Line, columns: list[str]) -> Generator[_Block, None, list[str]]:
    """Yield the cells of a table row, and return the names of its columns: the row above a rule has them."""
    if _is_table_rule(text[row.start : row.end]):
        return columns
    cells = [match.span() for match in _CELL.finditer(text, row.start, row.end)]
    if _is_table_rule(row.following or ""):
        columns = [fold(text[start:end]) for start, end in cells]
        yield from (_Block(*cell, Kind.HEADING, column) for cell, column in zip(cells, columns, strict=True))
        return columns
    for index, (start, end) in enumerate(cells):
        yield _Block(start, end, Kind.CELL, columns[index] if index < len(columns) else "")
    return columns


def _lines(text: str) -> Iterator[_Line]:
    spans = [match.span() for match in _LINE.finditer(text)]
    fenced = continues = False
    for (start, end), below in zip(spans, [*spans[1:], None], strict=False):
        shape = _shape(text[start:end])
        if shape == "fence":
            fenced = not fenced
            shape = "blank"
        elif fenced:
            shape = "quote"
        following = None
        if below is not None:
            adjacent = below[0] - end == 1 or text[end : below[0]] == "\r\n"
            following = text[slice(*below)] if adjacent else ""
        yield _Line(start, end, shape, continues, following)
        continues = bool(following)


def _shape(line: str) -> _Shape:
    stripped = line.strip()
    if not stripped or _RULE.fullmatch(stripped):
        return "blank"
    if stripped.startswith(("```", "~~~")):
        return "fence"
    if stripped.startswith("|") and stripped.count("|") > 1:
        return "row"
    if _HASHES.match(stripped):
        return "hashed"
    if stripped.startswith(">"):
        return "quote"
    if _MARKER.match(stripped):
        return "listed"
    return "text"


def _kind(line: str, shape: _Shape, following: str | None) -> Kind:
    if shape == "hashed":
        return Kind.HEADING
    if shape == "quote":
        return Kind.QUOTATION
    stripped = line.strip()
    if shape == "listed":
        # "2. Assumptions" above a paragraph is a heading; above "3. ..." it is an item of a list.
        numbered = stripped[0].isalnum() and _looks_like_a_heading(_MARKER.sub("", stripped, count=1), _SHORT_LINE)
        return Kind.HEADING if numbered and following and _shape(following) == "text" else Kind.ITEM
    if _BOLD_LINE.fullmatch(stripped) or (following and _UNDERLINE.fullmatch(following.strip())):
        return Kind.HEADING
    if following and following.lstrip()[:1].islower():
        return Kind.PROSE
    alone = following is not None and not following.strip()
    return Kind.HEADING if _looks_like_a_heading(stripped, _TITLE_LINE if alone else _SHORT_LINE) else Kind.PROSE


def _looks_like_a_heading(line: str, longest: int) -> bool:
    words = line.split(maxsplit=longest)
    if not words or len(words) > longest or not (line[0].isupper() or line[0].isdigit()):
        return False
    return (line[-1].isalnum() or line[-1] in ":)") and not _STATEMENT_WORDS.search(line.lower())


def _content_span(text: str, line: _Line) -> Span:
    """Return the span of the line without its leading marker and white space."""
    marker = _LEADING.get(line.shape)
    match = marker.match(text, line.start, line.end) if marker else None
    start = match.end() if match else line.start
    return line.end - len(text[start : line.end].lstrip()), line.end


def _is_table_rule(line: str) -> bool:
    return "-" in line and not line.strip("|-: \t")


# --- Sentences of a block ---


def _split(text: str, block: _Block) -> Iterator[tuple[int, int, list[Span]]]:
    quotations = [match.span() for match in _QUOTATION.finditer(text, block.start, block.end)]
    first = 0
    for left, right in _sentence_spans(text, block, quotations):
        start = right - len(text[left:right].lstrip())
        end = left + len(text[left:right].rstrip())
        if start < end:
            while first < len(quotations) and quotations[first][1] <= start:
                first += 1
            last = first
            while last < len(quotations) and quotations[last][0] < end:
                last += 1
            yield start, end, quotations[first:last]


def _sentence_spans(text: str, block: _Block, quotations: Sequence[Span]) -> Iterator[Span]:
    start = block.start
    index = 0
    for match in _STOP.finditer(text, block.start, block.end):
        while index < len(quotations) and quotations[index][1] < match.end("stop"):
            index += 1
        inside = (
            index < len(quotations)
            and quotations[index][0] < match.start()
            and match.end("stop") < quotations[index][1]
        )
        if not inside and _ends_here(text, match, start):
            yield from _pieces(text, start, match.end("stop"))
            start = match.end()
    yield from _pieces(text, start, block.end)


def _ends_here(text: str, stop: re.Match[str], start: int) -> bool:
    if stop["stop"][0] != ".":
        return True
    following = text[stop.end() : stop.end() + 1]
    if following.islower():
        return False
    before = text[max(start, stop.start() - 12) : stop.start()]
    word = before.split()[-1].lstrip("(*_\"'“\u2018").lower() if before.split() else ""
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    if word in _BEFORE_NUMBERS:
        return not (following.isdigit() or following in "§(")
    # "3. " at the start of a paragraph is its number, "z.B" and "e.g" are abbreviations.
    return not (word.isdigit() and not text[start : stop.start() - len(word)].strip()) and not _DOTTED.fullmatch(word)


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _MAX_SENTENCE:
        space = text.rfind(" ", start, start + _MAX_SENTENCE)
        piece_end = space if space > start else start + _MAX_SENTENCE
        yield start, piece_end
        start = piece_end
    yield start, end


def _voices(text: str, start: int, end: int, quotations: Sequence[Span]) -> tuple[str, str]:
    plain: list[str] = []
    own: list[str] = []
    position = start
    for first, last in quotations:
        opening, closing = max(first, start), min(last, end)
        between, quoted = text[position:opening], text[opening:closing]
        term = quoted[1:-1].split(maxsplit=_SHORT_QUOTATION_WORDS)
        plain += [between, quoted[1:-1] if len(term) <= _SHORT_QUOTATION_WORDS else f" {QUOTED} "]
        own += [between, f" {QUOTED} "]
        position = closing
    rest = text[position:end]
    folded = fold("".join([*plain, rest]))
    return folded, fold("".join([*own, rest])) if own else folded


_LINE = re.compile(r"[^\r\n]+")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_RULE = re.compile(r"[-*_=]{3,}")
_HASHES = re.compile(r"#{1,6}\s")
_MARKER = re.compile(
    r"(?:[-*+•▪●◦‣–]|\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)]|\d{1,3}(?:\.\d{1,3}){1,3})\s+"
)
_LEADING = {
    "hashed": re.compile(r"\s*#{1,6}\s+"),
    "quote": re.compile(r"[\s>]{1,20}"),
    "listed": re.compile(r"\s*" + _MARKER.pattern),
}
_CELL = re.compile(r"[^|\s][^|]*")
_BOLD_LINE = re.compile(r"(?:\*\*|__)[^*_]{1,80}(?:\*\*|__):?")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
# A short line with one of these words is a statement; without them and without a full stop it is a heading.
_STATEMENT_WORDS = re.compile(
    r"\b(?:i|we|you|it|is|are|was|were|be|been|did|does|do|has|have|had|should|must|may|can|could|will|would|shall"
    r"|says?|states?|assum(?:e|es|ing)|complies|meets|satisfies|please)\b"
)

_QUOTATION = re.compile(
    rf'"[^"]{{1,{_MAX_QUOTATION}}}"|“[^“”]{{1,{_MAX_QUOTATION}}}”|„[^„“”]{{1,{_MAX_QUOTATION}}}[“”]'
    rf"|«[^«»]{{1,{_MAX_QUOTATION}}}»|\u2018(?:[^\u2018’]|(?<=\w)’(?=\w)){{1,300}}’(?!\w)"
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)
_STOP = re.compile(r"(?<=\S)(?P<stop>[.!?…]{1,6}[\"'”’»)\]*_]{0,4})\s+")
_DOTTED = re.compile(r"(?:\w\.){1,4}\w")
_ABBREVIATIONS_LIST = """
e.g i.e eg ie cf viz vs v approx incl excl esp resp mr mrs ms dr prof st inc ltd llc corp co plc al op cit ibid
seq dept jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k e.u
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LIST.split())
_BEFORE_NUMBERS_LIST = """
art arts sec sect cl cls para paras no nos reg dir ch p pp fn fig ann app sch ex vol rec §
"""
_BEFORE_NUMBERS = frozenset(_BEFORE_NUMBERS_LIST.split())

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0000-\u0008\ud800-\udfff]")
_TYPOGRAPHY = str.maketrans("\u2018\u2019“”\u00a0\u202f\u2010\u2011", "''\"\"  --", "") | {
    ord(dash): " – " for dash in "–—"
}
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,300}\)")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|[`~]{1,3}|<[^<>]{1,40}>")
_CONTRACTIONS = tuple(
    (re.compile(pattern), expansion)
    for pattern, expansion in (
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'ve\b", " have"),
        (r"'re\b", " are"),
        (r"'ll\b", " will"),
        (r"'m\b", " am"),
        (r"\b(i|we|you|he|she|they|it)'d\b", r"\1 would"),
        (r"\b(it|that|there|here|what)'s\b", r"\1 is"),
    )
)
