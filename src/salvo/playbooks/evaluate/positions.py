"""Where a passage is in its document: under which heading, in which paragraph or cell, on which page. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from salvo.engine.sandbox.outline.items import MAX_ITEMS, OutlineItem
from salvo.engine.sandbox.outline.text import heading_words
from salvo.records import record

MAX_HEADING = 120
"""Characters of a heading that a position has."""


@record
class DocumentPosition:
    """Where a passage is in the file that the text was read from, as far as the file states it. Numbers are from 1."""

    heading: str = ""
    """The nearest heading before it, with the number that a word processor writes before that; empty if there is none,
    or if the title of the document is its only heading."""
    paragraph: int | None = None
    """Below the heading."""
    page: int | None = None
    """Of a Word file, by Word's last layout."""
    table: int | None = None
    """The number of the table in the file, if the passage is in one."""
    row: int | None = None
    """The row of the table."""
    column: int | None = None
    """The column of the table."""


class PositionFinder:
    """Answers for one text. Only what its file states is known."""

    def __init__(self, text: str, outline: Sequence[OutlineItem]) -> None:
        items = sorted(outline, key=lambda item: item.start)
        self._text = text
        self._known_until = items[-1].end if len(items) >= MAX_ITEMS else len(text)
        self._pages = _Starts([item for item in items if item.kind == "page"])
        self._parts = _Starts([item for item in items if item.kind != "page"])
        headings = [item for item in items if item.kind == "heading"]
        has_title_only = headings == list(self._parts.items[:1])
        self._headings = _Starts([] if has_title_only else headings)
        self._paragraphs = _paragraph_numbers(self._parts.items)

    def find(self, offset: int) -> DocumentPosition | None:
        """Return the position of an offset; None if the file states nothing about it."""
        if offset >= self._known_until:
            return None
        heading, page = self._headings.before(offset), self._pages.before(offset)
        part = self._parts.before(offset)
        if part is not None and offset >= part.end:
            part = None
        position = DocumentPosition(
            heading="" if heading is None else self._words(heading),
            paragraph=None if part is None else self._paragraphs.get(part),
            page=None if page is None else page.level,
            table=part.table or None if part else None,
            row=part.row or None if part else None,
            column=part.column or None if part else None,
        )
        return None if position == DocumentPosition() else position

    def _words(self, heading: OutlineItem) -> str:
        title = heading_words(self._text[heading.start : heading.end], heading.level)
        words = f"{heading.label.rstrip('.')} {title}".strip()
        return words if len(words) <= MAX_HEADING else f"{words[:MAX_HEADING]}…"


class _Starts:
    """Items in the order of the text."""

    def __init__(self, items: Sequence[OutlineItem]) -> None:
        self.items = items
        self._starts = [item.start for item in items]

    def before(self, offset: int) -> OutlineItem | None:
        """Return the last item that begins at the offset or before it."""
        index = bisect_right(self._starts, offset) - 1
        return self.items[index] if index >= 0 else None


def _paragraph_numbers(parts: Sequence[OutlineItem]) -> dict[OutlineItem, int]:
    """Return the number of each paragraph and list item below its heading, from 1. The cells of a table have none."""
    numbers: dict[OutlineItem, int] = {}
    count = 0
    for part in parts:
        if part.kind == "heading":
            count = 0
        elif part.kind in ("paragraph", "list_item"):
            count += 1
            numbers[part] = count
    return numbers
