"""Read a playbook's bytes as JSON, and name the problems of a document by their JSON path.

A document must have a canonical form (RFC 8785), because its hash is computed from it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from salvo.records import record

if TYPE_CHECKING:
    from salvo.engine.jsonio.pydantic_errors import FieldPath

LARGEST = 5_000_000
"""Bytes of a playbook's file. People write playbooks by hand, so a larger file is something else."""
DEEPEST = 100
"""Levels of nesting; a playbook needs five."""
MAX_CHECKS: Final = 1_000
MAX_PROBLEMS = 100
"""Problems of one kind that are reported."""
EXAMPLES: Final = "labelled_examples"
"""The field with the examples of a check."""
_MAX_DIGITS = 40
"""A longer integer has no canonical form, and parsing one takes quadratic time."""
_MAX_STEP = 60
"""Characters of one step of a path."""
_IDENTIFIER = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{_MAX_STEP}}}")
_SURROGATE = re.compile("[\ud800-\udfff]")

Level: TypeAlias = Literal["error", "warning"]
"""With an error the playbook cannot be used; with a warning it can."""


@record
class PlaybookProblem:
    path: str
    """In JSONPath, "$" for the whole document: $.checks[2].detection_method.type"""
    level: Level
    message: str
    place: str = ""
    """The same as the path, in words: Check 3, how it is decided"""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def error(path: FieldPath, message: str) -> PlaybookProblem:
    return PlaybookProblem(json_path(path), "error", message, place_in_words(path))


def warning(path: FieldPath, message: str) -> PlaybookProblem:
    return PlaybookProblem(json_path(path), "warning", message, place_in_words(path))


def json_path(path: FieldPath) -> str:
    return "$" + "".join(map(_json_path_step, path))


_FIELD_WORDS = {
    "metadata": "",
    "detection_method": "",
    "type": "how it is decided",
    "on_match": "result if a pattern occurs",
    "pattern_hints": "patterns",
    "labelled_examples": "examples",
    "expected": "expected result",
    "evidence_requirements": "evidence",
    "require_citations": "whether quotes are required",
    "min_citations_per_fail": "number of quotes that a failure needs",
    "evidence_on_pass": "whether a pass needs a quote",
    "input_contract": "inputs",
    "risk_posture": "risks",
    "variance_handling": "repeated runs",
    "consistency_score_min_ok": "threshold for stable",
    "consistency_score_warn": "threshold for unreliable",
    "min_runs": "number of runs",
}


def place_in_words(path: FieldPath) -> str:
    """Return a place of a playbook as its form calls it: Check 3, pattern 2."""
    words: list[str] = []
    for step in path:
        if isinstance(step, int):
            words[-1:] = [f"{words[-1].removesuffix('s')} {step + 1}" if words else f"item {step + 1}"]
        elif word := _FIELD_WORDS.get(step, step.replace("_", " ")):
            words.append(word if len(word) <= _MAX_STEP else f"{word[:_MAX_STEP]}…")
    text = ", ".join(words) or "the playbook"
    return text[:1].upper() + text[1:]


def _json_path_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _IDENTIFIER.fullmatch(step):
        return f".{step}"
    short = step if len(step) <= _MAX_STEP else f"{step[:_MAX_STEP]}…"
    return f"[{json.dumps(short)}]"


_RepeatedKeys: TypeAlias = list[tuple[dict[str, Any], list[str]]]
"""Objects, each with its keys that occur more than once."""


def parse(content: bytes) -> tuple[Any, list[PlaybookProblem]]:
    """Return the parsed value and the problems of its text; None and the reason if it cannot be parsed."""
    if len(content) > LARGEST:
        return None, [error((), f"is too large: more than {LARGEST:,} bytes")]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        byte = content[failure.start]
        return None, [error((), f"is not UTF-8: byte {failure.start} (0x{byte:02x}) is invalid there")]
    if not text.strip():
        return None, [error((), "is empty")]
    repeated: _RepeatedKeys = []
    object_hook = partial(_object, repeated)
    try:
        value = json.loads(text, object_pairs_hook=object_hook, parse_int=_integer)
    except json.JSONDecodeError as failure:
        reason = f"{failure.msg[:1].lower()}{failure.msg[1:]}"
        return None, [error((), f"is not JSON: line {failure.lineno}, column {failure.colno}: {reason}")]
    except RecursionError:
        return None, [_too_deep(())]
    return value, list(islice(_repeated_keys(value, repeated), MAX_PROBLEMS))


def _object(repeated: _RepeatedKeys, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated.append((result, [name for name in result if counts[name] > 1]))
    return result


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


def _repeated_keys(document: Any, repeated: _RepeatedKeys) -> Iterator[PlaybookProblem]:
    names = {id(item): names for item, names in repeated}
    for path, container in _containers(document) if names else ():
        for name in names.get(id(container), ()):
            yield error((*path, name), "occurs more than once: it is not clear which one counts")


def uncanonical(document: Any) -> Iterator[PlaybookProblem]:
    """Yield what has no form in RFC 8785, or in JSON at all."""
    if (message := _scalar_error(document)) is not None:
        yield error((), message)
    for path, container in _containers(document):
        if len(path) >= DEEPEST:
            yield _too_deep(path)
        for name, item in _items(container):
            if isinstance(container, dict) and not isinstance(name, str):
                yield error(path, f"has a key that is not text: {name!r:.60}")
                continue
            if isinstance(name, str) and _SURROGATE.search(name):
                yield error((*path, name), "has half a character (a lone surrogate) in its name")
            if (message := _scalar_error(item)) is not None:
                yield error((*path, name), message)


def _scalar_error(value: Any) -> str | None:
    """Return why a value that is no container has no canonical form."""
    if value is None or isinstance(value, bool | dict | list | tuple):
        return None
    if isinstance(value, str):
        return "has half a character (a lone surrogate) in it" if _SURROGATE.search(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a number that JSON can hold"
    if isinstance(value, int):
        return None if abs(value) < 2**53 else "is too large: canonical JSON holds integers below 2^53"
    return f"has the type {type(value).__name__}, which JSON cannot hold"


def _too_deep(path: FieldPath) -> PlaybookProblem:
    return error(path[:2], f"is nested too deeply: {DEEPEST} levels are allowed")


def _containers(document: Any) -> Iterator[tuple[FieldPath, Any]]:
    """Yield every object and list in the order of the document, down to one level too deep."""
    stack: list[tuple[FieldPath, Any]] = [((), document)]
    while stack:
        path, container = stack.pop()
        yield path, container
        if len(path) < DEEPEST:
            inside = [
                ((*path, step), item)
                for step, item in _items(container)
                if isinstance(item, dict | list | tuple) and isinstance(step, str | int)
            ]
            stack.extend(reversed(inside))


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()
