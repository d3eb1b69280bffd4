"""Colours on a terminal, or none."""

from __future__ import annotations

import click


class Paint:
    """Styles a text, where colours are wanted at all."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        return click.style(text, fg=fg, bold=bold or None, dim=dim or None) if self._colour else text
