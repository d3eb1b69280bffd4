"""What the paragraphs of a .docx are by their styles: headings with a level, numbered paragraphs with a list. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)


class NumberedList(NamedTuple):
    list_id: str
    level: int


class ParagraphStyles:
    """Answers for the paragraphs of one document. Styles are looked up once."""

    def __init__(self, styles: Any) -> None:
        """Take the root of the part `styles.xml`."""
        self._styles = {style.get(f"{WORD}styleId", ""): style for style in styles.iter(f"{WORD}style")}
        self._chains: dict[str, list[Any]] = {}

    def heading_level(self, paragraph: Any) -> int:
        """Return the level of a heading from 1; 0 for a paragraph that is none."""
        for properties in self._properties(paragraph):
            stated = attribute(properties.find(f"{WORD}outlineLvl"))
            if stated is not None:
                level = number(stated, _LEVELS)
                return level + 1 if 0 <= level < _LEVELS else 0
        for style in self._chain(_style_name(paragraph)):
            name = attribute(style.find(f"{WORD}name")) or ""
            if match := _HEADING_NAME.fullmatch(name):
                return int(match[1])
            if name.lower() == "title":
                return 1
        return 0

    def numbered_list(self, paragraph: Any) -> NumberedList | None:
        """Return the list that numbers the paragraph, if one does."""
        list_id: str | None = None
        level: str | None = None
        for properties in self._properties(paragraph):
            numbering = properties.find(f"{WORD}numPr")
            if numbering is None:
                continue
            list_id = list_id or attribute(numbering.find(f"{WORD}numId"))
            level = level or attribute(numbering.find(f"{WORD}ilvl"))
        if list_id in (None, "", "0"):
            return None
        return NumberedList(list_id, min(max(number(level), 0), _LEVELS - 1))

    def _properties(self, paragraph: Any) -> Iterator[Any]:
        """Yield the properties of the paragraph and then those of its styles, the nearest first."""
        for element in (paragraph, *self._chain(_style_name(paragraph))):
            properties = element.find(f"{WORD}pPr")
            if properties is not None:
                yield properties

    def _chain(self, name: str) -> list[Any]:
        """Return a style and those it is based on."""
        if name not in self._chains:
            self._chains[name] = list(style_chain(self._styles, name))
        return self._chains[name]


def style_chain(styles: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Yield the style of this id and those it is based on, each once; nothing if there is no such style."""
    visited: set[str] = set()
    while name in styles and name not in visited:
        visited.add(name)
        yield styles[name]
        name = attribute(styles[name].find(f"{WORD}basedOn")) or ""


def _style_name(paragraph: Any) -> str:
    return attribute(paragraph.find(f"{WORD}pPr/{WORD}pStyle")) or ""


def attribute(element: Any) -> str | None:
    """Return the value of an element; None if there is no such element or it has none."""
    return None if element is None else element.get(f"{WORD}val")


def number(text: str | None, default: int = 0) -> int:
    """Return a short decimal number; the default for anything else."""
    return int(text) if text and len(text) < 8 and text.isascii() and text.isdigit() else default
