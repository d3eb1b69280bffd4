"""Read JSON that means the same to every program that reads it.

Readers differ on what JSON leaves open: of two equal keys some take the first and some the last, and some stop at the
end of the first value. What is signed or hashed must have one meaning, so all of that is refused.
"""

from __future__ import annotations

import json
import math
from typing import Any

from salvo.engine.jsonio.json_codec import reject_constant

_BYTE_ORDER_MARK = "\ufeff"


def loads_strict(content: bytes) -> Any:
    """Return the one JSON value in the content. ValueError says why there is none, or not exactly one."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 at byte {error.start}") from None
    if text.startswith(_BYTE_ORDER_MARK):
        raise ValueError("it begins with a byte order mark")
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=reject_constant, parse_float=_finite, strict=True
    )
    try:
        value, end = decoder.raw_decode(text, len(text) - len(text.lstrip(_WHITESPACE)))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    rest = text[end:].strip(_WHITESPACE)
    if not rest:
        return value
    try:
        decoder.raw_decode(rest)
    except (ValueError, RecursionError):
        raise ValueError(f"it has more text after its end, at character {end}") from None
    raise ValueError(f"it has more than one JSON value: the second begins after character {end}")


_WHITESPACE = " \t\n\r"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has the key {json.dumps(repeated)} twice in one object")
    return values


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large for a number")
    return number
