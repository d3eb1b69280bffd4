"""Characters that no reader can see, made visible: what steers a text must not steer its reader."""

from __future__ import annotations

import re

ODD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; tabs and line feeds are layout
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"  # soft hyphen, invisible marks of scripts
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidi controls, invisible operators
    "\ud800-\udfff"  # lone surrogates, which no UTF-8 can hold
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # private use
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"  # noncharacters, byte order mark, annotations
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff"  # tags, in which a whole hidden text can be written
    "]"
)


def name(character: str) -> str:
    """As Unicode's charts have it: U+202E."""
    return f"U+{ord(character):04X}"


def spelled(text: str) -> str:
    """The text with each odd character spelled out in brackets that hardly any text uses."""
    return ODD.sub(lambda found: f"⟦{name(found.group())}⟧", text)
