"""JSON to and from bytes: by the fast writer and reader, and by the standard library where those refuse.

The fast ones refuse lone surrogates and integers beyond all bounds, and both occur in what models and tools
send: they must be sent, recorded and replayed like anything else.

JSON has no NaN and no infinity. Read, they are refused; written, they are the texts "NaN", "Infinity" and "-Infinity":
another program can read that, and nothing is passed off as null.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

MAX_DEPTH = 400
"""Deeper than anyone nests on purpose, for what comes from elsewhere."""

MAX_DEPTH_STORED = 500
"""For files of our own, in which that stands a few levels deeper: what was written can be read again.
No deeper than what was read can be written again, wherever that is done."""


def dumps(value: Any, *, indent: int | None = None) -> bytes:
    try:
        return to_json(value, indent=indent, inf_nan_mode="strings")
    except PydanticSerializationError:
        return _written(value, indent).encode("ascii")


def _written(value: Any, indent: int | None) -> str:
    try:
        return json.dumps(value, indent=indent, default=_fields, allow_nan=False)
    except ValueError:
        named = json.loads(json.dumps(value, default=_fields), parse_constant=str)
        return json.dumps(named, indent=indent)


def _fields(value: Any) -> dict[str, Any]:
    """A dataclass as the fast writer has it; TypeError for what no writer has a form for."""
    if not is_dataclass(value):
        raise TypeError(f"JSON has no form for {type(value).__name__}")
    return {part.name: getattr(value, part.name) for part in fields(value)}


def loads(content: bytes | str, *, max_depth: int = MAX_DEPTH, nan: bool = False) -> Any:
    """The value; ValueError where the content is not JSON, or nested deeper than anyone means.

    `nan` takes NaN and infinity all the same, for those who must read what others write.
    """
    try:
        return from_json(content, allow_inf_nan=nan)
    except (ValueError, TypeError):  # TypeError: text that has no UTF-8
        try:
            value = json.loads(content, parse_constant=float if nan else reject_constant)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if _is_deeper(value, max_depth):
            raise ValueError("nested too deeply") from None
        return value


def plain(value: Any) -> Any:
    """The value as anyone will read it again; TypeError, ValueError or RecursionError where nobody could."""
    return loads(dumps(value))


def reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


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


def loads_or_text(text: str) -> Any:
    """The value, where the whole text is JSON (a fence around it aside); else the text."""
    try:
        return loads(strip_fence(text))
    except ValueError:
        return text


def strip_fence(text: str) -> str:
    """The text without a Markdown fence around the whole of it, which models like to put there."""
    text = text.strip()
    fenced = _FENCED.match(text)
    return fenced.group(1) if fenced else text


_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
