"""Split a text into blocks: paragraphs, list items, table cells, headings and quotations.

Every step takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Literal, TypeAlias

from salvo.playbooks.evaluate.judges.rules.finding import Span
from salvo.playbooks.evaluate.judges.rules.folding import fold
from salvo.records import record

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


@record
class Block:
    start: int
    end: int
    kind: Kind
    column: str = ""
    marker: str = ""
    """The number or bullet before it."""
    after_rule: bool = False
    """A horizontal line or a code fence separates it from the block before."""


_Shape: TypeAlias = Literal["blank", "fence", "row", "hashed", "quote", "listed", "text"]
"""What a line looks like by itself."""


@record
class _Line:
    """A line that is not empty. `following` is "" before a blank line and None at the end of the text."""

    start: int
    end: int
    shape: _Shape
    continues: bool
    following: str | None


def blank_spans(text: str, ignore: Sequence[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for first, last in sorted(ignore):
        start, end = max(first, position), min(last, len(text))
        if start < end:
            pieces += [text[position:start], _NOT_LINE_END.sub(" ", text[start:end])]
            position = end
    return "".join([*pieces, text[position:]])


def read_blocks(text: str) -> Iterator[Block]:
    columns: list[str] = []
    open_block: Block | None = None
    after_rule = False
    for line in _lines(text):
        if line.shape == "text" and line.continues and open_block and open_block.kind is not Kind.HEADING:
            open_block = replace(open_block, end=line.end)
            continue
        if open_block:
            yield open_block
        open_block = None
        if line.shape == "row":
            columns = yield from _row(text, line, columns)
            continue
        columns = []
        if line.shape == "blank":
            after_rule |= bool(text[line.start : line.end].strip())
            continue
        kind = _kind(text[line.start : line.end], line.shape, line.following)
        start, end = _content_span(text, line)
        open_block = Block(start, end, kind, marker=text[line.start : start].strip(), after_rule=after_rule)
        after_rule = False
    if open_block:
        yield open_block


def _row(text: str, row: _Line, columns: list[str]) -> Generator[Block, None, list[str]]:
    """Yield the cells of a table row, and return the names of its columns: the row above a rule has them."""
    if _is_table_rule(text[row.start : row.end]):
        return columns
    cells = [match.span() for match in _CELL.finditer(text, row.start, row.end)]
    if _is_table_rule(row.following or ""):
        columns = [fold(text[start:end]) for start, end in cells]
        yield from (Block(*cell, Kind.HEADING, column) for cell, column in zip(cells, columns, strict=True))
        return columns
    for index, (start, end) in enumerate(cells):
        yield Block(start, end, Kind.CELL, columns[index] if index < len(columns) else "")
    return columns


def _lines(text: str) -> Iterator[_Line]:
    spans = [match.span() for match in _LINE.finditer(text)]
    widths = _widths(text, spans)
    fenced = continues = False
    for (start, end), below, width in zip(spans, [*spans, None][1:], widths, strict=True):
        shape = _shape(text[start:end])
        if shape == "fence":
            fenced = not fenced
            shape = "blank"
        elif fenced:
            shape = "quote"
        following = None
        if below is not None:
            following = text[slice(*below)] if _adjacent(text, end, below[0]) else ""
        yield _Line(start, end, shape, continues, following)
        continues = bool(following) and not _ends_paragraph(text[start:end], following or "", width)


def _widths(text: str, spans: Sequence[Span]) -> list[int]:
    """Return for each line how long the longest one is of those that stand together with it, without a blank line."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and _adjacent(text, groups[-1][-1][1], span[0]):
            groups[-1].append(span)
        else:
            groups.append([span])
    return [max(end - start for start, end in group) for group in groups for _ in group]


def _adjacent(text: str, end: int, start: int) -> bool:
    return start - end == 1 or text[end:start] == "\r\n"


def _ends_paragraph(line: str, following: str, width: int) -> bool:
    """Return whether a line is a paragraph of its own, as in a Word file: the next word would have fit on it."""
    first_word = following.split(maxsplit=1)[:1]
    if not first_word or following.lstrip()[0].islower() or line.rstrip().endswith((",", ":")):
        return False
    return len(line.rstrip()) + 1 + len(first_word[0]) <= width


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


_LINE = re.compile(r"[^\r\n]+")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_RULE = re.compile(r"[-*_=─━—]{3,}")
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
