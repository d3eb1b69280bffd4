"""Put untrusted text into Markdown so that none of it becomes markup.

`inline` escapes text within a line, and `fenced` puts it into a fence that is longer than any in the text. Some sites
turn addresses and names into links after removing the escapes. So the start of an address or a name is put into a code
span, and no text under test can link to a site or notify a person. Invisible characters are made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from salvo.engine.text.unicode_escape import visible


def inline(text: str) -> str:
    """Return the text on one line, with all markup escaped."""
    escaped = _SPECIAL.sub(lambda match: f"\\{match[0]}", _one_line(text))
    # At the beginning of a list item or a quote, these would start a list or a rule.
    escaped = _BEGINNING.sub(r"\1\\", escaped)
    return _LINKING.sub(lambda match: f"`{match[0]}`", escaped)


_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~&$]")
_BEGINNING = re.compile(r"\A(\d+(?=[.)](?: |\Z))|(?=[-+=]))")
_LINKING = re.compile(r"(?:://|[@#]|www(?=\.)|(?:mailto|xmpp)(?=:))+", re.IGNORECASE)


def code(text: str) -> str:
    """Return the text as a code span, with more backticks around it than in it."""
    line = _one_line(text) or " "
    if "|" in line:
        return inline(text)  # a bar ends a table cell, and inside code not every reader knows an escape for it
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if "`" in (line[0], line[-1]) else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str) -> str:
    """Return the text as a code block with a fence longer than any in the text."""
    text = visible(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. The cells are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)
