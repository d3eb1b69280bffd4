"""Foreign text in Markdown, in which none of it can be markup.

It is escaped within a line (`inline`) or put behind a fence longer than any in it (`fenced`). Some sites turn addresses
and names into links after the escapes are gone, so what begins one is put into a code span: nobody is linked to or
notified by a text under test. Invisible characters are made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from salvo.engine.text.unicode_escape import visible


def inline(text: str) -> str:
    """Within a line: no character of it is markup, and it stays one line."""
    escaped = _SPECIAL.sub(lambda found: f"\\{found.group()}", _folded(text))
    # At the beginning of a list item or a quote these would begin a list or a rule.
    escaped = _BEGINNING.sub(r"\1\\", escaped)
    return _LINKING.sub(lambda found: f"`{found.group()}`", escaped)


_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&$]")
_BEGINNING = re.compile(r"\A(\d+(?=[.)](?: |\Z))|(?=[-+=]))")
_LINKING = re.compile(r"(?:://|[@#]|www(?=\.)|(?:mailto|xmpp)(?=:))+", re.IGNORECASE)


def code(text: str) -> str:
    """A code span, whatever backticks are in it."""
    folded = _folded(text) or " "
    if "|" in folded:
        return inline(text)  # in a table's cell a bar ends it, and in code there is no escape that every reader knows
    ticks = "`" * (_longest_run(folded) + 1)
    pad = " " if "`" in (folded[0], folded[-1]) else ""
    return f"{ticks}{pad}{folded}{pad}{ticks}"


def fenced(text: str) -> str:
    """A block that ends only where we end it."""
    text = visible(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _folded(text: str) -> str:
    return " ".join(visible(text).split())


def _longest_run(text: str) -> int:
    """Of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
