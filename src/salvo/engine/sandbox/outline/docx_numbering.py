"""The numbers and bullets that a word processor writes before the paragraphs of a .docx. They are not in its text.

What a file says about them is followed as far as it is usual; where it is not understood, there is no number.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from salvo.engine.sandbox.outline.docx_styles import WORD, attribute, number
from salvo.engine.sandbox.outline.items import MAX_LABEL

_LEVELS = 9
_MAX_NUMBER = 100_000
BULLET = "•"


class _Level(NamedTuple):
    number_format: str
    text: str
    start: int
    is_decimal: bool
    """Whether the numbers of all levels in its text are written as decimal numbers."""


class Numbering:
    """Counts the numbered paragraphs of one document, in their order."""

    def __init__(self, part: Any) -> None:
        """Take the root of the part `numbering.xml`; None if the document has none."""
        self._levels: dict[str, dict[int, _Level]] = defaultdict(dict)
        """By the id of the abstract numbering, and the level."""
        self._abstract_ids: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = defaultdict(dict)
        """Where the numbers of a list begin again, until it is used."""
        self._counters: dict[str, list[int | None]] = defaultdict(lambda: [None] * _LEVELS)
        for definition in [] if part is None else part.iter(f"{WORD}abstractNum"):
            abstract_id = definition.get(f"{WORD}abstractNumId", "")
            for level in definition.iter(f"{WORD}lvl"):
                self._levels[abstract_id][number(level.get(f"{WORD}ilvl"))] = _level(level)
        for use in [] if part is None else part.iter(f"{WORD}num"):
            list_id = use.get(f"{WORD}numId", "")
            self._abstract_ids[list_id] = attribute(use.find(f"{WORD}abstractNumId")) or ""
            for override in use.iter(f"{WORD}lvlOverride"):
                restart = attribute(override.find(f"{WORD}startOverride"))
                if restart is not None:
                    self._restarts[list_id][number(override.get(f"{WORD}ilvl"))] = number(restart)

    def next_label(self, list_id: str, level: int) -> str:
        """Count a paragraph, and return what is written before it; empty if that is not known."""
        abstract_id = self._abstract_ids.get(list_id)
        definition = None if abstract_id is None else self._levels[abstract_id].get(level)
        if abstract_id is None or definition is None:
            return ""
        counters = self._counters[abstract_id]
        for restarted, start in self._restarts.pop(list_id, {}).items():
            if 0 <= restarted < _LEVELS:
                counters[restarted] = start - 1
        current = counters[level]
        counters[level] = definition.start if current is None else min(current + 1, _MAX_NUMBER)
        for deeper in range(level + 1, _LEVELS):
            counters[deeper] = None
        if definition.number_format == "bullet":
            return BULLET
        return self._label(definition, self._levels[abstract_id], counters)[:MAX_LABEL]

    @staticmethod
    def _label(definition: _Level, levels: dict[int, _Level], counters: list[int | None]) -> str:
        label = definition.text
        for index in range(_LEVELS):
            placeholder = f"%{index + 1}"
            if placeholder not in label:
                continue
            level = levels.get(index)
            if level is None:
                return ""
            count = level.start if (counted := counters[index]) is None else counted
            number = _format_number(count, "decimal" if definition.is_decimal else level.number_format)
            if number is None:
                return ""
            label = label.replace(placeholder, number)
        return label.strip()


def _level(element: Any) -> _Level:
    return _Level(
        attribute(element.find(f"{WORD}numFmt")) or "decimal",
        (attribute(element.find(f"{WORD}lvlText")) or "")[:MAX_LABEL],
        number(attribute(element.find(f"{WORD}start")), 1),
        element.find(f"{WORD}isLgl") is not None,
    )


def _format_number(count: int, number_format: str) -> str | None:
    """Return a number as its format writes it; None for a format that is not known."""
    if number_format == "decimal":
        return str(count)
    if number_format == "decimalZero":
        return f"{count:02}"
    if number_format in ("lowerLetter", "upperLetter") and 0 < count <= 26 * MAX_LABEL:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters if number_format == "lowerLetter" else letters.upper()
    if number_format in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        roman = _roman(count)
        return roman if number_format == "lowerRoman" else roman.upper()
    return None


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def _roman(count: int) -> str:
    numeral = ""
    for value, letters in _ROMAN:
        numeral += letters * (count // value)
        count %= value
    return numeral
