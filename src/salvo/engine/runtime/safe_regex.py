"""Regular expressions of strangers on text of strangers, which may be written to make a match take for ever.

A match of `re` cannot be interrupted: it holds the GIL, so neither a thread nor a time-out of the event loop ends it.
Telling dangerous patterns from harmless ones is a guess, and refusing them would refuse useful ones. So the steps are
bounded from above, by the pattern's shape and the text's length: what is surely quick is matched here, and the rest in
a process of its own that is killed when its time is up. Of the patterns people write, nearly all are quick.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from salvo.engine.text.messages import excerpt
from salvo.errors import InputError

STEPS = 5_000_000
"""What may be matched in this process: a tenth of a second at the very most."""
SECONDS = 5.0
"""What the matches in a process of its own may take; mostly for the start of that process on a busy machine."""

_HINT = "Avoid repetitions inside repetitions, as in (a+)+."


class Occurrences(NamedTuple):
    """Where a pattern occurs, in code points; `more` where it occurs oftener than that.

    With a `problem` that is not known, and there are no spans: having no time is not the same as not occurring.
    """

    spans: Sequence[tuple[int, int]] = ()
    more: bool = False
    problem: str = ""


def pattern_error(pattern: str) -> str:
    """What is wrong with a pattern, as a sentence; empty where it compiles."""
    try:
        _compiled(pattern, 0)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{excerpt(pattern)} is not a regular expression: {error}."
    return ""


def search(pattern: str, text: str) -> bool:
    """Whether the pattern occurs in the text; InputError where that is not known in time. May block: see `SECONDS`."""
    if steps(pattern, len(text)) <= STEPS:
        return _compiled(pattern, 0).search(text) is not None
    [result] = _apart([pattern], text, flags=0, most=0, empty=True)
    if result.problem:
        raise InputError(result.problem, hint=_HINT)
    return result.more


def occurrences(patterns: Sequence[str], text: str, *, most: int, flags: int = 0) -> list[Occurrences]:
    """For each pattern the first places, `most` at most, where it matches at least one character. May block: `SECONDS`.

    Those that may take long share one process and its time, the quicker ones first: one that never ends takes nothing
    from those that were sure to.
    """
    bounds = {pattern: steps(pattern, len(text), flags) for pattern in patterns}
    quick = {pattern: bound <= STEPS for pattern, bound in bounds.items()}
    results = {pattern: _here(pattern, text, flags, most) for pattern in bounds if quick[pattern]}
    if slow := sorted((pattern for pattern in bounds if not quick[pattern]), key=lambda pattern: bounds[pattern]):
        results.update(zip(slow, _apart(slow, text, flags=flags, most=most, empty=False), strict=True))
    return [results[pattern] for pattern in patterns]


def _here(pattern: str, text: str, flags: int, most: int) -> Occurrences:
    spans: list[tuple[int, int]] = []
    for match in _compiled(pattern, flags).finditer(text):
        if match.end() > match.start():
            if len(spans) == most:
                return Occurrences(spans, more=True)
            spans.append(match.span())
    return Occurrences(spans)


# One line for each pattern as it is done: what was done before the time was up is not lost.
_CHILD = """
import json, re, sys
asked = json.load(sys.stdin)
for pattern in asked["patterns"]:
    spans = []
    for match in re.finditer(pattern, asked["text"], asked["flags"]):
        if asked["empty"] or match.end() > match.start():
            spans.append(match.span())
            if len(spans) > asked["most"]:
                break
    print(json.dumps(spans), flush=True)
"""


def _apart(patterns: Sequence[str], text: str, *, flags: int, most: int, empty: bool) -> list[Occurrences]:
    asked = {"patterns": patterns, "text": text, "flags": int(flags), "most": most, "empty": empty}
    try:
        child = subprocess.run(  # noqa: S603 - our own interpreter with our own text
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _CHILD],
            input=json.dumps(asked).encode("ascii"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        output, why = child.stdout, f": its process ended with code {child.returncode}"
    except subprocess.TimeoutExpired as error:
        output, why = error.stdout or b"", f" after {SECONDS:g} seconds"
    except OSError as error:
        output, why = b"", f": no process could be started for it ({error.strerror})"
    done = [_read(line, most) for line in output.split(b"\n")[:-1]]
    return [*done, *_undone(patterns[len(done) :], f"was not done with a text of {len(text):,} characters{why}.")]


def _read(line: bytes, most: int) -> Occurrences:
    spans = [(start, end) for start, end in json.loads(line)]
    return Occurrences(spans[:most], more=len(spans) > most)


def _undone(patterns: Sequence[str], why: str) -> Iterator[Occurrences]:
    """The first was at work when the process ended, the others still waited for it."""
    for place, pattern in enumerate(patterns):
        said = why if place == 0 else f"was not tried, because {excerpt(patterns[0])} {why}"
        yield Occurrences(problem=f"The regular expression {excerpt(pattern)} {said}")


@lru_cache(maxsize=256)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    # What Python finds odd in a stranger's pattern is nothing that the person at the screen can do anything about.
    with _quiet():
        return re.compile(pattern, flags)


def steps(pattern: str, length: int, flags: int = 0) -> float:
    """No search of this pattern in a text of that length takes more steps than this (times a small constant)."""
    tree = _tree(pattern, flags)
    return math.inf if tree is None else (length + 1) * _ways(tree, length)


@lru_cache(maxsize=256)
def _tree(pattern: str, flags: int) -> Any:
    try:
        # The reader of `re` itself, so that what is counted is what is matched. It is not public: where a later Python
        # has none, or other nodes, every pattern is matched in a process of its own, which is slow but right.
        reader = importlib.import_module("re._parser")
        with _quiet():
            return reader.parse(pattern, flags)
    except (ImportError, AttributeError, RecursionError):
        return None


@contextmanager
def _quiet() -> Iterator[None]:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_ONE_AT_A_TIME = Lock()
"""Warnings are turned off for the whole process: two threads that did so at once could leave them off."""


def _ways(tree: Any, length: int) -> float:
    """How many ways a backtracking search may try at one place of the text: the choices of each part, multiplied."""
    return math.prod((_choices(str(kind), part, length) for kind, part in tree), start=1.0)


def _choices(kind: str, part: Any, length: int) -> float:
    if kind in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}:
        return 1.0
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        return _repeated(part[2], min(part[1], length), length)
    if kind == "BRANCH":
        return sum(_ways(branch, length) for branch in part[1])
    if kind in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _ways(part[-1], length)
    if kind == "ATOMIC_GROUP":
        return _ways(part, length)
    return float(length + 1) if kind == "GROUPREF" else math.inf


def _repeated(tree: Any, times: int, length: int) -> float:
    once = _ways(tree, length)
    try:
        return (times + 1) * once**times
    except OverflowError:
        return math.inf
