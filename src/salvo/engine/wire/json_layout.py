"""The layout of JSON: spaces, indentation, escapes. With it a tape can hold JSON and give back every byte. Pure."""

from __future__ import annotations

import json
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.wire.tape import FormattedJsonContent, JsonContent

_LAYOUTS: dict[str, dict[str, Any]] = {
    "spaced": {},
    "spaced-unicode": {"ensure_ascii": False},
    "indented": {"indent": 2},
    "indented-unicode": {"indent": 2, "ensure_ascii": False},
    "compact": {"separators": (",", ":")},
    "compact-unicode": {"separators": (",", ":"), "ensure_ascii": False},
}
_FIRST_BYTES = 512


def content(clean: Any, value: Any, body: bytes) -> FormattedJsonContent | JsonContent | None:
    """Return `clean` with the layout of `body`, which holds `value`; None where that layout is not known."""
    start = body[:_FIRST_BYTES]
    kind = "indented" if start[1:2] == b"\n" else "spaced" if b'": ' in start else "compact"
    # Text in a value may look like another layout; then the body is kept as text, byte for byte all the same.
    if kind == "compact" and json_codec.dumps(value) == body:
        return JsonContent(clean)
    layout = kind if body.isascii() else f"{kind}-unicode"
    bare = body.rstrip(b"\r\n")
    if _write(value, layout) != bare:
        return None
    return FormattedJsonContent(clean, layout, body[len(bare) :].decode())


def write(formatted: FormattedJsonContent) -> bytes:
    """Return the bytes. A layout that is not known, of a later version, is written as our own."""
    text = _write(formatted.json, formatted.layout) if formatted.layout in _LAYOUTS else None
    return (json_codec.dumps(formatted.json) if text is None else text) + formatted.end.encode()


def _write(value: Any, layout: str) -> bytes | None:
    try:
        return json.dumps(value, **_LAYOUTS[layout]).encode()
    except (ValueError, RecursionError):  # a lone surrogate, or too deep
        return None
