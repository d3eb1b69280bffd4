"""Parts of a document that may not be what it should be: a part of the wrong kind is as good as none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def object_in(document: Any, name: str) -> Mapping[str, Any]:
    part = document.get(name) if isinstance(document, dict) else None
    return part if isinstance(part, dict) else {}


def text_in(document: Any, name: str) -> str:
    part = document.get(name) if isinstance(document, dict) else None
    return part if isinstance(part, str) else ""


def number_in(document: Mapping[str, Any], *names: str) -> float | None:
    """The first of the names that has a number."""
    found = (document.get(name) for name in names)
    return next((value for value in found if isinstance(value, int | float) and not isinstance(value, bool)), None)
