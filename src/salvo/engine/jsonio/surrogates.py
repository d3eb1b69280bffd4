r"""Write lone surrogates, which UTF-8 and RFC 8785 cannot hold, so that no two texts are written alike.

A lone surrogate becomes a backslash and its code as in JSON (\ud800). So that a text which has these six characters
itself stays different, backslashes in front of them count: k of them are written as 2k in front of the characters
`ud800`, and as 2k + 1 in front of an escaped surrogate. Every other text is written as it is. Linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = "ud[89a-f][0-9a-f]{2}"
_TO_ESCAPE = re.compile(rf"(?<!\\)\\*+(?P<surrogate>[\ud800-\udfff])|(?<!\\)\\++(?={_CODE})")
_ESCAPED = re.compile(rf"(?<!\\)(?P<backslashes>\\++)(?P<code>{_CODE})")


def escape(text: str) -> str:
    """Return the text without lone surrogates; `unescape` gives it back."""
    return _TO_ESCAPE.sub(_escape_match, text) if "\\ud" in text or _SURROGATE.search(text) else text


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return _ESCAPED.sub(_unescape_match, text) if "\\ud" in text else text


def escape_in(value: Any) -> Any:
    """Return the JSON value with every text and name in it escaped."""
    return _convert(value, escape)


def unescape_in(value: Any) -> Any:
    """Return the JSON value that `escape_in` was given."""
    return _convert(value, unescape)


def join_pairs(text: str) -> str:
    """Return the text with each pair of surrogates as the one character that it stands for in UTF-16 and JSON."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def has_surrogates(text: str) -> bool:
    return _SURROGATE.search(text) is not None


def _convert(value: Any, convert: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return convert(value)
    if isinstance(value, dict):
        return {convert(name): _convert(item, convert) for name, item in value.items()}
    return [_convert(item, convert) for item in value] if isinstance(value, list) else value


def _escape_match(match: re.Match[str]) -> str:
    surrogate = match["surrogate"]
    if surrogate is None:
        return match[0] * 2
    backslashes = "\\" * (2 * (len(match[0]) - 1) + 1)
    return f"{backslashes}u{ord(surrogate):04x}"


def _unescape_match(match: re.Match[str]) -> str:
    half, is_escaped = divmod(len(match["backslashes"]), 2)
    return "\\" * half + (chr(int(match["code"][1:], 16)) if is_escaped else match["code"])
