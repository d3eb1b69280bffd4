"""A playbook's bytes as a JSON value, and what of it has no canonical form: its hash could not be computed again."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from salvo.playbooks.playbook.problems import PlaybookProblem, Steps, error

LARGEST = 5_000_000
"""Bytes of a playbook's file. Playbooks are written by people: a larger file is another file."""
DEEPEST = 100
"""Levels of nesting; a playbook needs five."""
_MOST = 100
"""Problems of one kind; nobody reads more."""
_LONGEST_INTEGER = 40
"""Digits. Longer ones have no canonical form anyway, and take the square of their length to read."""


_Repeating: TypeAlias = tuple[dict[str, Any], list[str]]
"""An object, and the names that it was given more than once."""


def parse(content: bytes) -> tuple[Any, list[PlaybookProblem]]:
    """The value and what is wrong with its text; None and the reason where it cannot be read."""
    if len(content) > LARGEST:
        return None, [error((), f"is too large: more than {LARGEST:,} bytes")]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        byte = content[fault.start]
        return None, [error((), f"is not UTF-8: byte {fault.start} (0x{byte:02x}) does not belong there")]
    if not text.strip():
        return None, [error((), "is empty")]
    repeating: list[_Repeating] = []
    noting = partial(_object, repeating)
    try:
        value = json.loads(text, object_pairs_hook=noting, parse_int=_integer, parse_constant=_constant)
    except json.JSONDecodeError as fault:
        reason = f"{fault.msg[:1].lower()}{fault.msg[1:]}"
        return None, [error((), f"is not JSON: line {fault.lineno}, column {fault.colno}: {reason}")]
    except RecursionError:
        return None, [_too_deep(())]
    return value, list(islice(_repetitions(value, repeating), _MOST))


def uncanonical(document: Any) -> list[PlaybookProblem]:
    """What RFC 8785 has no form for, or what is no JSON at all."""
    return list(islice(_uncanonical(document), _MOST))


def _object(repeating: list[_Repeating], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        times = Counter(name for name, _ in pairs)
        repeating.append((result, [name for name in result if times[name] > 1]))
    return result


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))


def _repetitions(document: Any, repeating: list[_Repeating]) -> Iterator[PlaybookProblem]:
    names = {id(item): names for item, names in repeating}
    for place in _containers(document) if names else ():
        for name in names.get(id(place.value), ()):
            yield error((*place.steps, name), "is given more than once: it is not clear which one counts")


def _uncanonical(document: Any) -> Iterator[PlaybookProblem]:
    if (said := _flaw(document)) is not None:
        yield error((), said)
    for place in _containers(document):
        if place.depth >= DEEPEST:
            yield _too_deep(place.steps)
        for name, part in _parts(place.value):
            if isinstance(place.value, dict) and not isinstance(name, str):
                yield error(place.steps, f"has a name that is no text: {name!r:.60}")
                continue
            if isinstance(name, str) and _SURROGATE.search(name):
                yield error((*place.steps, name), "has half a character (a lone surrogate) in its name")
            if (said := _flaw(part)) is not None:
                yield error((*place.steps, name), said)


def _flaw(value: Any) -> str | None:
    """What keeps a value without parts from having a canonical form."""
    if value is None or isinstance(value, bool | dict | list | tuple):
        return None
    if isinstance(value, str):
        return "has half a character (a lone surrogate) in it" if _SURROGATE.search(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a number that JSON can hold"
    if isinstance(value, int):
        return None if abs(value) < 2**53 else "is too large: canonical JSON holds integers below 2^53"
    return f"is a {type(value).__name__}, which JSON has no form for"


_SURROGATE = re.compile("[\ud800-\udfff]")


def _too_deep(steps: Steps) -> PlaybookProblem:
    return error(steps[:2], f"is nested too deeply: {DEEPEST} levels are allowed")


_Link: TypeAlias = "tuple[_Link, str | int] | None"


class _Place(NamedTuple):
    """An object or a list and the way to it, as a chain: only the few that a problem is about are ever spelled out."""

    value: Any
    way: _Link
    depth: int

    @property
    def steps(self) -> Steps:
        steps, way = [], self.way
        while way is not None:
            way, step = way
            steps.append(step)
        return tuple(reversed(steps))


def _containers(document: Any) -> Iterator[_Place]:
    """Every object and list in the order of the document, none deeper than one level too deep."""
    stack = [_Place(document, None, 0)]
    while stack:
        place = stack.pop()
        yield place
        if place.depth < DEEPEST:
            inside = [
                _Place(part, (place.way, step), place.depth + 1)
                for step, part in _parts(place.value)
                if isinstance(part, dict | list | tuple) and isinstance(step, str | int)
            ]
            stack.extend(reversed(inside))


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()
