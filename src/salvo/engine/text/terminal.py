"""Colours and tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import click


class Paint:
    """Style text, or return it unchanged where colours are off."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        return click.style(text, fg=fg, bold=bold or None, dim=dim or None) if self._colour else text


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Paint = Paint(False),  # noqa: B008 - immutable
    colours: Sequence[str | None] | None = None,
) -> list[str]:
    """Return the lines of a table with aligned columns and a bold header; `colours` has one colour per row."""
    cells = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    first, *lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
    return [
        paint(first, bold=True),
        *(paint(line, colour) for line, colour in zip(lines, colours or repeat(None, len(lines)), strict=True)),
    ]
