"""Colours and tables on a terminal.

Text from a model, a file or a recording may contain the escape sequences of any style. So that they can be told from
ours, `Paint` writes a number into its sequences that nobody outside this process can guess, and `render` accepts no
others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import repeat

import click

from salvo.engine.text.unicode_escape import printable

_ESCAPE = "\x1b["
_OUR_ESCAPE = f"{_ESCAPE}{int.from_bytes(os.urandom(16), 'big')};"
_OUR_STYLE = re.compile(rf"({re.escape(_OUR_ESCAPE)}[0-9;]+m)")


class Paint:
    """Style text for `render`, or return it unchanged where colours are off."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        if not self._colour:
            return text
        style = click.style("", fg=fg, bold=bold or None, dim=dim or None, reset=False)
        return f"{style.replace(_ESCAPE, _OUR_ESCAPE)}{text}{_OUR_ESCAPE}0m"


def render(text: str) -> str:
    """Return the text as a terminal may get it: only styles of `Paint` take effect, the rest is `printable`."""
    parts = _OUR_STYLE.split(text)
    parts[::2] = (printable(part, multiline=True) for part in parts[::2])
    parts[1::2] = (style.replace(_OUR_ESCAPE, _ESCAPE) for style in parts[1::2])
    return "".join(parts)


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    paint: Paint = Paint(False),  # noqa: B008 - immutable
    colours: Sequence[str | None] | None = None,
) -> list[str]:
    """Return the lines of a table with aligned columns and a bold header; `colours` has one colour per row.

    Each row stays on its line, whatever its cells contain.
    """
    cells = [header, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    first, *lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
    return [
        paint(first, bold=True),
        *(paint(line, colour) for line, colour in zip(lines, colours or repeat(None, len(lines)), strict=True)),
    ]
