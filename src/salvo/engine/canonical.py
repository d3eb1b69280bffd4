"""One text for one value: `jcs` for hashes that others recompute, `stable_key` for our own look-ups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from salvo.errors import InputError


def jcs(value: Any) -> bytes:
    """The value as RFC 8785 canonical JSON, which anyone can compute again in any language.

    What the standard has no form for (NaN, integers beyond 2^53, lone surrogates) is refused, not bent.
    """
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as fault:
        raise InputError(
            f"This value has no canonical JSON form: {fault}.",
            hint="Use finite numbers, integers below 2^53 and well-formed Unicode.",
        ) from fault


def sha256(content: bytes) -> str:
    """The digest as reports write it: with the algorithm's name in front."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def stable_key(value: Any) -> str:
    """The same key for equal values in every process, for any value at all: never raises.

    Not canonical JSON: NaN, huge integers and lone surrogates occur in what models and tools send, and a
    recording must hold them too.
    """
    return hashlib.sha256(stable_text(value).encode("ascii")).hexdigest()


def stable_text(value: Any) -> str:
    """ASCII text that is the same for equal values; it is JSON whenever the value is."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "".join(_outline(value))


class _Piece(NamedTuple):
    """Finished text on the stack; `closes` names the container that ends with it."""

    text: str
    closes: int | None = None


def _outline(root: Any) -> Iterator[str]:
    """Writes what JSON cannot: odd keys and types, cycles, any depth (hence a stack, not recursion)."""
    stack: list[Any] = [root]
    inside: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, _Piece):
            inside.discard(item.closes or 0)
            yield item.text
        elif id(item) in inside:
            yield "<cycle>"
        elif (content := _content(item)) is not None:
            inside.add(id(item))
            stack.append(_Piece(")", closes=id(item)))
            stack.extend(reversed(content))
        else:
            yield _scalar(item)


def _content(item: Any) -> list[Any] | None:
    """What stands inside a container, in a fixed order; None for what is no container."""
    if isinstance(item, Mapping):
        entries = sorted(((stable_text(key), value) for key, value in item.items()), key=lambda entry: entry[0])
        return [
            _Piece("{"),
            *(part for key, value in entries for part in (_Piece(f"{key}:"), value, _Piece(","))),
        ]
    if isinstance(item, list | tuple):
        return [_Piece("["), *(part for value in item for part in (value, _Piece(",")))]
    if isinstance(item, AbstractSet):
        return [_Piece("<"), *(_Piece(f"{text},") for text in sorted(stable_text(value) for value in item))]
    if not isinstance(item, type) and hasattr(item, "__dict__"):
        return [_Piece(f"{type(item).__qualname__}("), vars(item)]
    return None


def _scalar(item: Any) -> str:
    if item is None or isinstance(item, str | float | bool):
        return json.dumps(item)
    if isinstance(item, int):
        return hex(item)  # decimal refuses integers of thousands of digits
    if isinstance(item, bytes):
        return f"bytes:{item.hex()}"
    # repr() may hold an address, which differs in every process; the type is what is left to tell.
    return f"<{type(item).__qualname__.encode('ascii', 'backslashreplace').decode()}>"
