"""Count the invisible characters of a text. They are reported, and kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from salvo.playbooks.report.report import ArtifactFinding

INVISIBLE: Mapping[str, tuple[str, str]] = {
    "nul": (r"\0", "NUL"),
    "lone_surrogate": (r"\ud800-\udfff", "Half a character (a lone surrogate)"),
    "bidi_control": (r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069", "Control of the direction of writing"),
    "zero_width": (r"\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufeff", "Character without width"),
    "tag_character": (r"\U000e0000-\U000e007f", "Invisible tag character"),
    "control": (r"\x01-\x08\x0b-\x1f\x7f-\x9f", "Control character"),
}
"""Kinds of characters that are rarely typed on purpose: the content of a character class, and a name."""

_MAX_LISTED = 5


def invisible_characters(text: str) -> list[ArtifactFinding]:
    """Return a finding for each kind of invisible character in the text. The characters are kept."""
    result = []
    for kind, (members, name) in INVISIBLE.items():
        if counts := Counter(re.findall(f"[{members}]", text)):
            codes = [f"U+{ord(character):04X}" for character in sorted(counts)[:_MAX_LISTED]]
            others = " and others" if len(counts) > _MAX_LISTED else ""
            total = counts.total()
            often = "once" if total == 1 else f"{total:,} times"
            message = f"{name}, {often} in the text: {', '.join(codes)}{others}."
            result.append(ArtifactFinding(kind, message, count=total))
    return result
