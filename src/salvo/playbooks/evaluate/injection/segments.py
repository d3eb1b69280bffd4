"""Divide a text into passages (paragraphs, list items, rows, fenced blocks, comments), and these into sentences. Pure.

The sentences are those of the text as it stands; `plain` gives the words of one without what disguises them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from salvo.playbooks.evaluate.inputs import Span

MAX_SENTENCE = 1000
"""Characters of a sentence; a longer one is cut, so that no pattern sees more."""


class Shape(Enum):
    PARAGRAPH = "paragraph"
    ITEM = "list item"
    ROW = "table row"
    HEADING = "heading"
    QUOTATION = "quotation"
    ENCLOSED = "fenced block or comment"
    RULE = "horizontal rule"


class PassageSpans(NamedTuple):
    shape: Shape
    span: Span
    sentences: tuple[Span, ...]


def passages(text: str) -> list[PassageSpans]:
    """Return the passages in the order of the text. White space between them belongs to none."""
    enclosed = _enclosed(text)
    result: list[PassageSpans] = []
    position = 0
    for span in (*enclosed, Span(len(text), len(text))):
        result += _from_lines(text, position, span.start)
        if span.start < span.end:
            result.append(_passage(text, Shape.ENCLOSED, span.start, span.end))
        position = span.end
    return result


def _enclosed(text: str) -> list[Span]:
    """Return fenced blocks and comments that are closed. An open one would take the rest of the text with it."""
    spans = list(_comments(text))
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif opening["mark"][:3] == fence["mark"][:3]:
            spans.append(Span(opening.start(), fence.end()))
            opening = None
    result: list[Span] = []
    for span in sorted(spans):
        if not result or span.start >= result[-1].end:
            result.append(span)
    return result


def _comments(text: str) -> Iterator[Span]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        if end < 0:
            return
        yield Span(start, end + 3)
        start = text.find("<!--", end)


def _from_lines(text: str, start: int, end: int) -> Iterator[PassageSpans]:
    open_shape: Shape | None = None
    open_start = open_end = start
    for match in _LINE.finditer(text, start, end):
        shape = _shape(match[0])
        continues = shape is open_shape and shape in (Shape.PARAGRAPH, Shape.QUOTATION)
        lazy = shape is Shape.PARAGRAPH and open_shape in (Shape.ITEM, Shape.QUOTATION)
        if open_shape is not None and not continues and not lazy:
            yield _passage(text, open_shape, open_start, open_end)
            open_shape = None
        if shape is not None and open_shape is None:
            open_shape, open_start = shape, match.start()
        open_end = match.end()
    if open_shape is not None:
        yield _passage(text, open_shape, open_start, open_end)


def _shape(line: str) -> Shape | None:
    stripped = line.strip()
    if not stripped:
        return None
    first = stripped[0]
    if first.isalpha():
        return Shape.ITEM if _NUMBERED.match(stripped) else Shape.PARAGRAPH
    if first == ">":
        return Shape.QUOTATION if stripped.strip("> \t") else None
    if first == "|" and stripped.count("|") > 1:
        return Shape.ROW
    if first == "#" and _HASHES.match(stripped):
        return Shape.HEADING
    if _RULE.fullmatch(stripped):
        return Shape.RULE
    if first == "*" and _BOLD_LINE.fullmatch(stripped):
        return Shape.HEADING
    return Shape.ITEM if _BULLET.match(stripped) or _NUMBERED.match(stripped) else Shape.PARAGRAPH


def _passage(text: str, shape: Shape, start: int, end: int) -> PassageSpans:
    return PassageSpans(shape, Span(start, end), tuple(_sentences(text, start, end)))


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    position = start
    for match in _BREAK.finditer(text, start, end):
        if match["stop"] is not None:
            if _goes_on(text, match.end(), position, match.start()):
                continue
        elif _is_wrapped(text, position, match.start(), match.end(), end):
            continue
        yield from _pieces(text, position, match.end())
        position = match.end()
    yield from _pieces(text, position, end)


def _goes_on(text: str, after: int, start: int, stop: int) -> bool:
    """Return whether a full stop belongs to an abbreviation or a list number."""
    following = text[after : after + 8].lstrip()[:1]
    if text[stop] != ".":
        return False
    word = text[max(start, stop - 8) : stop].rsplit(" ", maxsplit=1)[-1].strip("(*_\"'")
    return following.islower() or word.lower() in _ABBREVIATIONS or (word.isdigit() and stop - start <= len(word) + 4)


def _is_wrapped(text: str, start: int, stop: int, after: int, end: int) -> bool:
    """Return whether the next line continues the sentence of this one."""
    following = text[after : min(after + 40, end)].lstrip("> \t*_")
    line = text[max(start, stop - 200) : stop].rpartition("\n")[2].rstrip()
    if not following or not line or line.endswith((":", ">", "}", "{", "]")):
        return False
    return (following[0].islower() and not _FIELD.match(following)) or len(line) >= _WRAPPED_LINE


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        space = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        cut = space if space > 0 else start + MAX_SENTENCE
        yield Span(start, cut)
        start = cut
    if start < end:
        yield Span(start, end)


def plain(sentence: str) -> str:
    """Return the words in lower case on one line, with straight quotes, without accents and marks of emphasis."""
    if not sentence.isascii():
        sentence = _ACCENTS.sub("", unicodedata.normalize("NFKD", sentence)).translate(_LETTERS)
    if "*" in sentence or "__" in sentence or "`" in sentence:
        sentence = _EMPHASIS.sub("", sentence)
    return " ".join(sentence.replace('"', "'").lower().split())


_WRAPPED_LINE = 60
"""A line of this length may have been wrapped in the middle of a sentence."""

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE = re.compile(r"(?m)^[ \t>]{0,8}(?P<mark>```|~~~)[^\n]*$")
_HASHES = re.compile(r"#{1,6}\s")
_RULE = re.compile(r"[-*_=\s]{3,}")
_BOLD_LINE = re.compile(r"(?:\*\*|__)[^*\n]{1,100}(?:\*\*|__):?")
_BULLET = re.compile(r"[-*+•▪●◦‣–—]\s")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[a-zA-Z]|[ivxIVX]{2,5})[.)]\s")
_FIELD = re.compile(r"[\w-]{1,30} ?[:=]")
_BREAK = re.compile(r"(?P<stop>[.!?…][\"'”’»)\]*_]{0,4}(?=\s))|\n")
_ABBREVIATION_WORDS = """
art arts no nr abs sec cl para e.g i.e cf vs v mr mrs ms dr st u.s inc ltd co z.b d.h ss par lit s
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
_ACCENTS = re.compile("[\u0300-\u036f]")
_EMPHASIS = re.compile(r"\*{1,3}|__|`{1,3}")
_QUOTES, _DASHES = "‘’‚‛“”„‟«»‹›", "‐‑‒–—―−"  # noqa: RUF001 - what writers use for straight ones
_LETTERS = str.maketrans(f"{_QUOTES}{_DASHES}ß", "'" * len(_QUOTES) + "-" * len(_DASHES) + "s")
