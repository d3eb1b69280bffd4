"""Fences round what must not be taken for instructions: a tag that stands nowhere in what it fences."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def fence_tag(contents: Sequence[str]) -> str:
    """A tag that none of the contents contains, in whatever case; the same for the same contents.

    It is a hash over all of them, so who writes one cannot know it, and where it does occur another is taken.
    """
    whole = "\0".join(contents)
    seen = whole.lower()
    tag = _digest(whole)
    while tag in seen:
        tag = _digest(tag + whole)
    return tag


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
