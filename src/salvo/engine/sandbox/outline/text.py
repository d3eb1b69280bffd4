"""The outline of a text file: its paragraphs, and the headings of Markdown. Pure.

Paragraphs are separated by empty lines. In Markdown, each item of a list is one, and what is fenced as code has no
headings.
"""

from __future__ import annotations

import re

from salvo.engine.sandbox.outline.items import MAX_ITEMS, OutlineItem

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_HEADING = re.compile(r"[ \t]*(?:[-*+>|]|\d{1,9}[.)][ \t]|`{3,}|~{3,})")
"""How a paragraph begins that a line of dashes below it does not make a heading."""
_EMPHASIS = re.compile(r"(?<![*_])(\*\*|__)(?=\S)([^*_]+)(?<=\S)\1(?![*_])")
_FRONT_MATTER = re.compile(r"---[ \t]*\n[\w-]+:[^\n]*\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def text_outline(text: str, *, markdown: bool) -> tuple[OutlineItem, ...]:
    """Return the paragraphs of a text with LF line ends, and its headings if it is Markdown."""
    outline = _TextOutline(markdown=markdown)
    front_matter = _FRONT_MATTER.match(text) if markdown else None
    position = front_matter.end() if front_matter else 0
    for line in text[position:].split("\n"):
        outline.add_line(line, position)
        position += len(line) + 1
        if len(outline.items) >= MAX_ITEMS:
            break
    outline.end_paragraph()
    return tuple(outline.items[:MAX_ITEMS])


def heading_words(text: str, level: int) -> str:
    """Return the words of a heading as a text file or a word processor has it, without the marks of Markdown."""
    words = text.strip()
    marks = "#" * level
    if words.startswith((f"{marks} ", f"{marks}\t")):
        words = _EMPHASIS.sub(r"\2", re.sub(r"[ \t]+#+$", "", words[level:]))
    return " ".join(words.split())


class _TextOutline:
    """Collects the outline while the lines are read in their order."""

    def __init__(self, *, markdown: bool) -> None:
        self.items: list[OutlineItem] = []
        self._markdown = markdown
        self._start: int | None = None
        """Of the paragraph that is being read."""
        self._end = 0
        self._may_be_heading = False
        self._fence = ""
        """What opened the code that is being read; empty outside of code."""

    def add_line(self, line: str, position: int) -> None:
        if not line.strip() and not self._fence:
            self.end_paragraph()
            return
        if self._markdown and self._add_marked(line, position):
            return
        self._extend(line, position)

    def _add_marked(self, line: str, position: int) -> bool:
        """Add a line that Markdown gives a meaning; False if it is an ordinary one."""
        if self._fence:
            if line.strip() and not line.strip().strip(self._fence[0]) and len(line.strip()) >= len(self._fence):
                self._fence = ""
            return False
        if fence := _FENCE.match(line):
            self._fence = fence[1]
        elif heading := _HEADING.match(line):
            self.end_paragraph()
            self.items.append(OutlineItem("heading", position, position + len(line), level=len(heading[1])))
            return True
        elif underline := _UNDERLINE.match(line):
            return self._add_underline(underline[1])
        elif _LIST_ITEM.match(line):
            self.end_paragraph()
        return False

    def _add_underline(self, characters: str) -> bool:
        """Make the paragraph above it a heading. Without one, dashes are a rule between paragraphs."""
        if self._start is not None and self._may_be_heading:
            level = 1 if characters.startswith("=") else 2
            self.items.append(OutlineItem("heading", self._start, self._end, level=level))
            self._start = None
            return True
        if characters.startswith("---"):
            self.end_paragraph()
            return True
        return False

    def _extend(self, line: str, position: int) -> None:
        if self._start is None:
            self._start = position
            self._may_be_heading = not _NO_HEADING.match(line)
        self._end = position + len(line)

    def end_paragraph(self) -> None:
        if self._start is not None:
            self.items.append(OutlineItem("paragraph", self._start, self._end))
            self._start = None
