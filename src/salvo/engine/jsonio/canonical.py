"""Canonical forms of values: `jcs` for hashes that other programs recompute, `stable_key` for our own look-ups."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from operator import itemgetter
from types import ModuleType
from typing import Any, NamedTuple

import rfc8785

from salvo.errors import InputError

_LONGEST_OUTLINE = 1_000_000
_STABLE = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_VALUE_REPRS = frozenset({"datetime", "decimal", "fractions", "uuid", "pathlib"})
"""Modules whose objects have a repr that contains only their value."""


def jcs(value: Any) -> bytes:
    """Return the value as RFC 8785 canonical JSON, which can be recomputed in any language.

    Raises InputError for what the standard does not cover: NaN, integers beyond 2^53, lone surrogates.
    """
    try:
        return rfc8785.dumps(value)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"This value has no canonical JSON form: {error}.",
            hint="Use finite numbers, integers below 2^53 and well-formed Unicode.",
        ) from error


def escape_surrogates(text: str) -> str:
    r"""Return the text with each lone surrogate escaped as in JSON (\ud800); `jcs` accepts every other text."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape_surrogates_in(value: Any) -> Any:
    """Return the JSON value with the lone surrogates of every text in it escaped."""
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, dict):
        return {escape_surrogates(name): escape_surrogates_in(item) for name, item in value.items()}
    return [escape_surrogates_in(item) for item in value] if isinstance(value, list) else value


_SURROGATE = re.compile("[\ud800-\udfff]")


def sha256(content: bytes) -> str:
    """Return the SHA-256 digest with the prefix "sha256:"."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def hex_digest(text: str) -> str:
    """Return the SHA-256 digest of a text in hexadecimal, also of one that UTF-8 cannot hold."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stable_key(value: Any) -> str:
    """Return the same key for equal values in every process. It accepts any value and never raises.

    This is not canonical JSON: models and tools send NaN, huge integers and lone surrogates, and a recording must
    hold them too.
    """
    return hashlib.sha256(stable_text(value).encode("ascii")).hexdigest()


def stable_text(value: Any) -> str:
    """Return ASCII text that is the same for equal values. It is JSON where the value can be written as JSON."""
    try:
        return _STABLE.encode(value)
    except Exception:  # noqa: BLE001 - a user's object may raise any exception when it is inspected
        try:
            # A graph of objects may have too many paths to walk, so the number of steps is limited.
            return "".join(_outline(value, iter(range(_LONGEST_OUTLINE))))
        except Exception:  # noqa: BLE001 - as above
            return _type_name(value)


class _Piece(NamedTuple):
    """Finished text on the stack. `closes` is the container that ends with it."""

    text: str
    closes: Any = None


def _outline(root: Any, steps: Iterator[int], around: AbstractSet[int] = frozenset()) -> Iterator[str]:
    """Yield the text of a value that JSON cannot represent: other keys and types, cycles, any depth.

    It uses a stack, because recursion has a limit. Values that JSON can represent are written as JSON, because the
    depth at which the JSON encoder fails depends on the caller.
    """
    stack: list[Any] = [root]
    inside = set(around)
    while stack and next(steps, None) is not None:
        item = stack.pop()
        if isinstance(item, _Piece):
            inside.discard(id(item.closes))
            yield item.text
        elif id(item) in inside:
            yield "<cycle>"
        elif (content := _content(item, steps, inside)) is not None:
            opening, parts, closing = content
            inside.add(id(item))
            stack.append(_Piece(closing, closes=item))
            stack.extend(reversed(parts))
            yield opening
        else:
            yield _scalar(item)


def _content(item: Any, steps: Iterator[int], around: AbstractSet[int]) -> tuple[str, list[Any], str] | None:
    """Return the parts of a container in a fixed order, between the text around them; None for other values."""
    if isinstance(item, Mapping):
        return "{", _separated(_entries(item, steps, around)), "}"
    if isinstance(item, list | tuple):
        return "[", _separated((value,) for value in item), "]"
    if isinstance(item, AbstractSet):
        texts = sorted("".join(_outline(value, steps, around)) for value in item)
        return "set[", _separated((_Piece(text),) for text in texts), "]"
    if isinstance(item, type | ModuleType):
        return None
    if dataclasses.is_dataclass(item):
        fields = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        return f"{_type_name(item)}(", [fields], ")"
    return (f"{_type_name(item)}(", [vars(item)], ")") if hasattr(item, "__dict__") else None


def _entries(item: Mapping[Any, Any], steps: Iterator[int], around: AbstractSet[int]) -> list[tuple[_Piece, Any]]:
    entries = list(item.items())
    if all(isinstance(key, str) for key, _ in entries):
        entries.sort(key=itemgetter(0))
        return [(_Piece(f"{json.dumps(key)}:"), value) for key, value in entries]
    texts = [("".join(_outline(key, steps, around)), value) for key, value in entries]
    return [(_Piece(f"{text}:"), value) for text, value in sorted(texts, key=itemgetter(0))]


def _separated(entries: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [part for entry in entries for part in (_Piece(","), *entry)][1:]


def _scalar(item: Any) -> str:
    if item is None or isinstance(item, str | float | bool):
        return json.dumps(item)
    if isinstance(item, int):
        try:
            return json.dumps(item)
        except ValueError:
            return hex(item)  # the decimal form of integers with thousands of digits is refused
    if isinstance(item, bytes) or type(item).__module__.partition(".")[0] in _VALUE_REPRS:
        return ascii(item)
    # repr() may contain an address, which differs in every process, so only the type is used.
    return _type_name(item)


def _type_name(item: Any) -> str:
    return f"<{type(item).__qualname__.encode('ascii', 'backslashreplace').decode()}>"
