"""Tags for fences around untrusted text in prompts, which the text cannot contain."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def fence_tag(contents: Sequence[str]) -> str:
    """Return a tag that none of the contents contains in any case. Equal contents have equal tags.

    It is a hash of all contents, so the author of one cannot predict it; if it occurs in them, another one is used.
    """
    text = "\0".join(contents)
    lowered = text.lower()
    tag = _digest(text)
    while tag in lowered:
        tag = _digest(tag + text)
    return tag


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
