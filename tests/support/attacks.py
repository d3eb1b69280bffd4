"""Texts with markup and control characters, and values that hold such a text in every field."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

ATTACKS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><style>@import url(http://evil.example)</style>",
    "</title></pre></code></bdi>",
    "<!-- --><![CDATA[ ]]>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "<https://evil.example>",
    "https://evil.example www.evil.example a@evil.example mailto:a@b.c",
    "\n\n# A heading\n\n- [ ] a task\n\n| a | b |\n| - | - |",
    "---",
    "1. one",
    "```\n````text\n~~~",
    "`` ` ``",
    "@@##@user #12",
    "a \\| b | c \\",
    "&lt;b&gt; &#60;",
    "$x$ ~~x~~ **x** __x__ [^1]",
    "[x]: http://evil.example",
    "\x1b[2J\x1b]0;title\x07\r\x00",
    "\u202eevil\u2066\u200b\ufeff\U000e0041",
    "\ud800 lone",
    "\u2028\x85\x0b\x0c",
    "العربية עברית",
)

attack_texts = st.one_of(
    st.sampled_from(ATTACKS),
    st.lists(st.sampled_from(ATTACKS), min_size=2, max_size=3).map(" ".join),
    st.text(alphabet=st.characters(), max_size=40),
    st.text(alphabet="`*_[]()<>!#|~\\-+=.:/@&$ \n1aw", max_size=40),
)

_NOT_FREE = {
    ("DriftSummary", "kind"),
    ("CheckResult", "decided_by"),
    ("UncheckedArea", "stated_by"),
    ("ModelFingerprint", "temperature"),
}
"""Fields that hold one of a few words; reading a report enforces it."""


def with_text_everywhere(value: T, text: str) -> T:
    """Return the value with the text in every field that can hold one."""
    changed: T = _with_text_everywhere(value, text)
    return changed


def _with_text_everywhere(value: Any, text: str) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(_with_text_everywhere(item, text) for item in value)
    if isinstance(value, dict):
        return {f"{text}{number}": _with_text_everywhere(item, text) for number, item in enumerate(value.values())}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        names = [part.name for part in fields(value) if (kind, part.name) not in _NOT_FREE]
        return replace(value, **{name: _with_text_everywhere(getattr(value, name), text) for name in names})
    return value
