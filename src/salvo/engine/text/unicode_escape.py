"""Make invisible characters visible, so that foreign text cannot steer a terminal or mislead its reader.

`printable` is for terminals, `printable_json` for JSON, `visible` for documents: Markdown, HTML and XML.
"""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = (
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
"""A pattern, which `re` compiles when a document is first made: it is slow to compile, and most commands make none."""

_OUTSIDE_ASCII = re.compile(r"[^ -~]")
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def printable(text: str, *, multiline: bool = False) -> str:
    """Return the text with invisible and unassigned characters escaped; `multiline` keeps line feeds and tabs."""

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if unicodedata.category(character) not in _UNPRINTABLE or (multiline and character in "\n\t"):
            return character
        return character.encode("unicode_escape").decode("ascii")

    return _OUTSIDE_ASCII.sub(escape, text)


def printable_json(document: str) -> str:
    """Return the JSON document with the same characters escaped as JSON does it; its value stays the same."""

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if unicodedata.category(character) not in _UNPRINTABLE or character in "\n\t":  # layout between values
            return character
        return re.sub("....", r"\\u\g<0>", character.encode("utf-16-be", "surrogatepass").hex())

    return _OUTSIDE_ASCII.sub(escape, document)


def visible(text: str) -> str:
    """Return the text with each invisible character as its code point in rare brackets: ⟦U+202E⟧."""
    return re.sub(INVISIBLE, lambda match: f"⟦{code_point(match[0])}⟧", text)


def code_point(character: str) -> str:
    """Return the name of a code point as in Unicode's charts: U+202E."""
    return f"U+{ord(character):04X}"
