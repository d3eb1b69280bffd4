"""Convert JSON to and from bytes with pydantic_core, and with the standard library where pydantic_core refuses.

pydantic_core refuses lone surrogates and very large integers. Models and tools send both, so it must be possible to
send, record and replay them.

JSON has no NaN and no infinity. They are refused when reading, and written as the texts "NaN", "Infinity" and
"-Infinity", which other programs can read; null would hide them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

MAX_DEPTH = 400
"""The limit on nesting for data from outside. Nobody nests deeper on purpose."""

MAX_DEPTH_STORED = 500
"""The limit for files that we write, in which data from outside is nested a few levels deeper."""


def dumps(value: Any, *, indent: int | None = None) -> bytes:
    try:
        return to_json(value, indent=indent, inf_nan_mode="strings")
    except PydanticSerializationError:
        try:
            return json.dumps(value, indent=indent, default=_fields, allow_nan=False).encode("ascii")
        except ValueError:
            without_constants = json.loads(json.dumps(value, default=_fields), parse_constant=str)
            return json.dumps(without_constants, indent=indent).encode("ascii")


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, as pydantic_core writes it. Raises TypeError for other types."""
    if hasattr(type(value), "model_fields"):  # a pydantic model
        return dict(value)
    if not is_dataclass(value):
        raise TypeError(f"JSON has no form for {type(value).__name__}")
    return {part.name: getattr(value, part.name) for part in fields(value)}


def loads(content: bytes | str, *, max_depth: int = MAX_DEPTH, nan: bool = False) -> Any:
    """Return the value; `nan` accepts NaN and infinity. Raises ValueError if it is not JSON, or nested too deeply."""
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
    """Return the value as it will be read again: only dicts, lists, strings, numbers, booleans and None.

    Raises TypeError, ValueError or RecursionError where it cannot be written as JSON.
    """
    return loads(dumps(value))


def reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = next_level(level)
    return any(isinstance(item, dict | list) for item in level)


def next_level(values: Iterable[Any]) -> list[Any]:
    """Return what the objects and lists among the values hold: one level deeper in a JSON document."""
    return [
        part
        for value in values
        if isinstance(value, dict | list)
        for part in (value.values() if isinstance(value, dict) else value)
    ]


def loads_or_text(text: str) -> Any:
    """Return the value where the text is JSON, with or without a Markdown fence around it; else the text."""
    try:
        return loads(strip_fence(text))
    except ValueError:
        return text


def as_text(value: Any) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def strip_fence(text: str) -> str:
    """Return the text without the Markdown fence that models often put around it."""
    text = text.strip()
    fenced = _FENCED.match(text)
    return fenced.group(1) if fenced else text


_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
