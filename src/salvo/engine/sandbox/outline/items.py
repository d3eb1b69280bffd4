"""The parts that an outline consists of. They have offsets into the text, and nothing of the text itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

MAX_ITEMS = 50_000
"""An outline ends with this many. Of the text after it, nothing is known."""
MAX_LABEL = 40

OutlineKind: TypeAlias = Literal["heading", "paragraph", "list_item", "cell", "page"]


class OutlineItem(NamedTuple):
    """A part of a text: code points from 0, `end` exclusive. A page is where it begins."""

    kind: OutlineKind
    start: int
    end: int
    level: int = 0
    """Of a heading from 1, of a list item from 0; the number of a page."""
    label: str = ""
    """The number or bullet that a word processor writes before it. It is not part of the text."""
    table: int = 0
    """The number of a cell's table, and its row and column there, all from 1."""
    row: int = 0
    column: int = 0


def to_rows(items: Iterable[OutlineItem]) -> list[list[Any]]:
    """Return the items as JSON values, without what is not set."""
    defaults = tuple(OutlineItem._field_defaults.values())
    required = len(OutlineItem._fields) - len(defaults)
    rows = []
    for item in items:
        row = list(item)
        while len(row) > required and row[-1] == defaults[len(row) - required - 1]:
            row.pop()
        rows.append(row)
    return rows


def from_rows(rows: Sequence[Sequence[Any]], length: int) -> tuple[OutlineItem, ...]:
    """Return the items of an outline of a text with this length. ValueError or TypeError if they are none."""
    items = tuple(OutlineItem(*row) for row in rows[:MAX_ITEMS])
    for item in items:
        if not 0 <= item.start <= item.end <= length:
            raise ValueError(f"{item.kind} from {item.start} to {item.end} is not within the text")
    return items
