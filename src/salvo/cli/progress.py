"""Progress on stderr: one line that is rewritten on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys

import click


class ProgressLine:
    """Says how far things are. `line` is the state, `tell` a lasting message."""

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown
        self._terminal = shown and sys.stderr.isatty()
        self._told = ""

    def line(self, text: str, *, milestone: bool = False) -> None:
        """The present state. Without a terminal only milestones are printed, one line each."""
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r\x1b[K{text[:width]}", err=True, nl=False)
        elif self._shown and milestone and text != self._told:
            click.echo(text, err=True)
        self._told = text

    def tell(self, text: str) -> None:
        self.clear()
        click.echo(text, err=True)

    def clear(self) -> None:
        if self._terminal:
            click.echo("\r\x1b[K", err=True, nl=False)
