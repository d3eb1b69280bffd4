"""The outline of a .pdf: its pages, and the bookmarks whose words stand on the page that they lead to.

A bookmark is a heading that the file states. The words of a page are not taken for headings because of their size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from salvo.engine.sandbox.outline.items import MAX_ITEMS, OutlineItem

MAX_BOOKMARKS = 2_000
_MAX_DEPTH = 9
_MAX_TITLE = 300
_MAX_LINES = 4
"""Lines of a page that a heading may be broken into."""


class Bookmark(NamedTuple):
    title: str
    level: int
    page: int
    """From 0."""


def read_bookmarks(reader: PdfReader) -> list[Bookmark]:
    """Return the bookmarks in the order of the file; those that cannot be read are left out."""
    try:
        pages = {
            reference.idnum: index
            for index, page in enumerate(reader.pages)
            if (reference := page.indirect_reference) is not None
        }
        root = _resolved(reader.root_object.get("/Outlines"))
        return list(_bookmarks(reader, root, pages)) if isinstance(root, DictionaryObject) else []
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _bookmarks(reader: PdfReader, root: DictionaryObject, pages: dict[int, int]) -> Iterator[Bookmark]:
    """Walk the tree without recursion. What points back at itself is visited once."""
    waiting: list[tuple[Any, int]] = [(root.get("/First"), 1)]
    visited: set[int] = set()
    while waiting and len(visited) < MAX_BOOKMARKS:
        reference, level = waiting.pop()
        node = _resolved(reference)
        if not isinstance(node, DictionaryObject) or id(node) in visited:
            continue
        visited.add(id(node))
        waiting.append((node.get("/Next"), level))
        if level < _MAX_DEPTH:
            waiting.append((node.get("/First"), level + 1))
        title, page = node.get("/Title"), _page(reader, node, pages)
        if isinstance(title, str) and title.strip() and page is not None:
            yield Bookmark(title[:_MAX_TITLE], level, page)


def _page(reader: PdfReader, node: DictionaryObject, pages: dict[int, int]) -> int | None:
    action = _resolved(node.get("/A"))
    destination = _resolved(node.get("/Dest", action.get("/D") if isinstance(action, DictionaryObject) else None))
    if isinstance(destination, str):
        target = reader.named_destinations.get(destination)
        destination = None if target is None else ArrayObject([target.page])
    if not isinstance(destination, ArrayObject) or not destination:
        return None
    target = destination[0]
    return pages.get(target.idnum) if isinstance(target, IndirectObject) else None


def _resolved(value: Any) -> Any:
    return value.get_object() if isinstance(value, IndirectObject) else value


def pdf_outline(pages: Sequence[str], separator: str, bookmarks: Sequence[Bookmark]) -> list[OutlineItem]:
    """Return the outline of the pages, which are joined by the separator and then stripped."""
    text = separator.join(pages)
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    by_page: dict[int, list[Bookmark]] = {}
    for bookmark in bookmarks:
        by_page.setdefault(bookmark.page, []).append(bookmark)
    items: list[OutlineItem] = []
    position = 0
    for index, page in enumerate(pages):
        start = min(max(position, first), last) - first
        items.append(OutlineItem("page", start, start, level=index + 1))
        for heading in _headings(page, by_page.get(index, ())):
            begin, end = position + heading.start - first, position + heading.end - first
            items.append(heading._replace(start=begin, end=end))
        position += len(page) + len(separator)
    return items[:MAX_ITEMS]


def _headings(page: str, bookmarks: Sequence[Bookmark]) -> Iterator[OutlineItem]:
    """Find the words of each bookmark as whole lines of the page, one after the other."""
    lines: list[tuple[int, str]] = []
    position = 0
    for line in page.split("\n"):
        lines.append((position, line))
        position += len(line) + 1
    begin = 0
    for bookmark in bookmarks:
        title = _plain(bookmark.title)
        for index in range(begin, len(lines)):
            if match := _matching_lines(lines, index, title):
                start, end, begin = match
                yield OutlineItem("heading", start, end, bookmark.level)
                break


def _matching_lines(lines: Sequence[tuple[int, str]], index: int, title: str) -> tuple[int, int, int] | None:
    """Return the start, the end and the index after the lines that are the wanted words; None if they are others."""
    words = ""
    for after in range(index, min(index + _MAX_LINES, len(lines))):
        offset, line = lines[after]
        words += _plain(line)
        if words == title and _plain(line):
            begin, opening = lines[index]
            return begin + len(opening) - len(opening.lstrip()), offset + len(line.rstrip()), after + 1
        if not title.startswith(words):
            return None
    return None


def _plain(text: str) -> str:
    """Return the text without white space, which a file may have or not have between the same words."""
    return "".join(text.split()).casefold()
