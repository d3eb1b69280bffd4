"""The outline of a .docx: headings, numbered and other paragraphs, the cells of tables, and pages.

Pages are those of Word's last layout, which it notes in the file. A file without these notes has no pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from docx.document import Document as DocumentObject
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml

from salvo.engine.sandbox.outline.docx_numbering import Numbering
from salvo.engine.sandbox.outline.docx_styles import WORD, ParagraphStyles, attribute, number
from salvo.engine.sandbox.outline.items import MAX_ITEMS, OutlineItem

PAGE_BREAK = f"{WORD}lastRenderedPageBreak"
_TABLE, _ROW, _CELL = f"{WORD}tbl", f"{WORD}tr", f"{WORD}tc"
_MAX_COLUMNS = 1_000


class DocxOutline:
    """Collects the outline while the document is read from its beginning to its end."""

    def __init__(self, document: DocumentObject) -> None:
        self._styles = ParagraphStyles(document.styles.element)
        self._numbering = Numbering(_numbering_part(document))
        self._items: list[OutlineItem] = []
        self._pages = 1
        self._position = 0
        """Where the next line begins, in the text with all lines."""
        self._places: dict[Any, tuple[int, int, int]] = {}
        """The table, row and column of each table, row and cell."""
        self._tables = 0
        self._children: Counter[Any] = Counter()
        """The rows of each table so far, and the columns of each row."""

    def enter(self, element: Any) -> None:
        """Note a table, a row or a cell."""
        if len(self._items) >= MAX_ITEMS:
            return
        if element.tag == _TABLE:
            self._tables += 1
            self._places[element] = (self._tables, 0, 0)
        elif element.tag == _ROW and (table := _nearest(element, _TABLE)) is not None:
            self._children[table] += 1
            self._places[element] = (self._places[table][0], self._children[table], 0)
        elif element.tag == _CELL and (row := _nearest(element, _ROW)) is not None:
            table_number, row_number, _ = self._places[row]
            self._places[element] = (table_number, row_number, self._children[row] + 1)
            span = number(attribute(element.find(f"{WORD}tcPr/{WORD}gridSpan")), 1)
            self._children[row] += min(max(span, 1), _MAX_COLUMNS)

    def add_line(self, paragraph: Any, text: str, page_breaks: Sequence[int]) -> None:
        """Add the text of a paragraph; None for what is before the first one. Pages begin at these offsets in it."""
        start = self._position
        self._position += len(text) + 1
        if len(self._items) >= MAX_ITEMS:
            return
        for offset in page_breaks[: MAX_ITEMS - len(self._items)]:
            self._pages += 1
            self._items.append(OutlineItem("page", start + offset, start + offset, level=self._pages))
        if paragraph is not None and len(self._items) < MAX_ITEMS and (item := self._item(paragraph, text, start)):
            self._items.append(item)

    def _item(self, paragraph: Any, text: str, start: int) -> OutlineItem | None:
        end = start + len(text)
        numbered = self._styles.numbered_list(paragraph)
        has_text = bool(text.strip())
        label = self._numbering.next_label(*numbered) if numbered else ""
        cell = _nearest(paragraph, _CELL)
        if cell is not None and cell in self._places:
            table, row, column = self._places[cell]
            return OutlineItem("cell", start, end, 0, label, table, row, column)
        if not has_text:
            return None
        if level := self._styles.heading_level(paragraph):
            return OutlineItem("heading", start, end, level, label)
        if numbered:
            return OutlineItem("list_item", start, end, numbered.level, label)
        return OutlineItem("paragraph", start, end)

    def items(self, text: str) -> list[OutlineItem]:
        """Return the outline of the whole text without the white space at its ends."""
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        has_pages = self._pages > 1
        opening = [OutlineItem("page", 0, 0, level=1)] if has_pages else []
        items = opening + [
            item._replace(start=_clip(item.start, first, last), end=_clip(item.end, first, last))
            for item in self._items
        ]
        return items[:MAX_ITEMS]


def _clip(offset: int, first: int, last: int) -> int:
    return min(max(offset, first), last) - first


def _nearest(element: Any, tag: str) -> Any:
    """Return the innermost element with this tag around another one; None if there is none."""
    return next(element.iterancestors(tag), None)


def _numbering_part(document: DocumentObject) -> Any:
    try:
        return parse_xml(document.part.part_related_by(RELATIONSHIP_TYPE.NUMBERING).blob)
    except KeyError:
        return None
