"""JSON to and from bytes: by the fast writer and reader, and by the standard library where those refuse.

The fast ones refuse lone surrogates and integers beyond all bounds, and both occur in what models and tools
send: they must be sent, recorded and replayed like anything else.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

DEEPEST = 500
"""Deeper than anyone nests on purpose, and no deeper than what was read can be written again wherever it is done."""


def dumps(value: Any, *, indent: int | None = None) -> bytes:
    try:
        return to_json(value, indent=indent)
    except PydanticSerializationError:
        return json.dumps(value, indent=indent, default=_fields).encode("ascii")


def _fields(value: Any) -> dict[str, Any]:
    """A dataclass as the fast writer has it; TypeError for what no writer has a form for."""
    return {part.name: getattr(value, part.name) for part in fields(value)}


def loads(content: bytes | str) -> Any:
    """The value; ValueError where the content is not JSON, or nested deeper than anyone means."""
    try:
        return from_json(content)
    except (ValueError, TypeError):  # TypeError: text that has no UTF-8
        try:
            value = json.loads(content)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if _is_deeper(value, DEEPEST):
            raise ValueError("nested too deeply") from None
        return value


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, dict | list) for item in level)


def unfenced(text: str) -> str:
    """The text without a Markdown fence around the whole of it, which models like to put there."""
    text = text.strip()
    fenced = _FENCED.match(text)
    return fenced.group(1) if fenced else text


_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
