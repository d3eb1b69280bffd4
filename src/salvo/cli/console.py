"""The progress line that both commands print on stderr."""

from __future__ import annotations

import shutil
import sys

from salvo.cli.output import echo, rewrite_line
from salvo.engine.text.unicode_escape import printable


def unpriced_notice(name: str) -> str:
    """Return what `--max-cost` says once, when a call cannot be counted."""
    return f"--max-cost does not count every call: the cost of {name} is not known."


class ProgressLine:
    """The progress on stderr: one line that is rewritten on a terminal, separate lines elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last_text = ""

    def update(self, text: str, *, milestone: bool = False) -> None:
        """Show the current state. Without a terminal only milestones are printed, one line each."""
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            rewrite_line(printable(text)[:width])
        elif milestone and text != self._last_text:
            echo(text, err=True)
        self._last_text = text

    def print(self, text: str) -> None:
        """Print a message that stays."""
        self.clear()
        echo(text, err=True)

    def clear(self) -> None:
        if self._is_terminal:
            rewrite_line("")
