"""How text that the reader of a document does not see is marked in the text that is read from it.

It stays in the text, between brackets that name it, so that it can be reported and quoted wherever the text goes. What
is in such brackets is no evidence.
"""

from __future__ import annotations

import re

_OPENING, _CLOSING = "⟦Hidden in the document: ", "⟧"
PATTERN = re.compile(r"⟦Hidden in the document: [^⟦⟧]*(?:⟧|\Z)")
"""A marked passage. The brackets cannot occur in it."""


def mark_hidden(text: str) -> str:
    """Return the hidden text with its marks, or as it is if there is nothing to see in it anyway."""
    if not text.strip():
        return text
    return f"{_OPENING}{' '.join(text.replace('⟦', '[').replace('⟧', ']').split())}{_CLOSING}"


def luminance(red: float, green: float, blue: float) -> float:
    """Return the relative luminance of a colour with parts from 0 to 1, as the WCAG define it."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (min(max(channel, 0.0), 1.0) for channel in (red, green, blue))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


WHITE = 1.0

MIN_CONTRAST = 1.2
"""Of text to its background. With less, nobody reads it; the WCAG ask for 4.5."""

MIN_POINTS = 3.0
"""Smaller text looks like a line or a speck."""


def is_readable_on(colour: float, background: float) -> bool:
    """Return whether text of one luminance can be seen on the other."""
    lighter, darker = max(colour, background), min(colour, background)
    return (lighter + 0.05) / (darker + 0.05) >= MIN_CONTRAST
