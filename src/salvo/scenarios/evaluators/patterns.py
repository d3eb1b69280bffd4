"""Regular expressions on text that an agent wrote, which may be written to make a match take for ever.

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
from functools import lru_cache
from typing import Any

from salvo.errors import InputError
from salvo.scenarios.evaluators.values import shown

STEPS = 5_000_000
"""What may be matched in this process: a tenth of a second at the very most."""
SECONDS = 5.0
"""What a match in a process of its own may take; mostly for the start of that process on a busy machine."""

_CHILD = """
import json, re, sys
asked = json.load(sys.stdin)
print(int(re.search(asked["pattern"], asked["text"]) is not None))
"""


def flaw(pattern: str) -> str:
    """What is wrong with a pattern, as a sentence; empty where it compiles."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as fault:
        return f"{shown(pattern)} is not a regular expression: {fault}."
    return ""


def found(pattern: str, text: str) -> bool:
    """Whether the pattern occurs in the text; InputError where that is not known in time. May block: see `SECONDS`."""
    if steps(pattern, len(text)) <= STEPS:
        return re.search(pattern, text) is not None
    return _found_apart(pattern, text)


def _found_apart(pattern: str, text: str) -> bool:
    try:
        child = subprocess.run(  # noqa: S603 - our own interpreter with our own text
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps({"pattern": pattern, "text": text}),
            capture_output=True,
            text=True,
            encoding="ascii",
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"The regular expression {shown(pattern)} was not done with a text of {len(text):,} characters "
            f"after {SECONDS:g} seconds.",
            hint="Avoid repetitions inside repetitions, as in (a+)+.",
        ) from None
    return child.stdout.strip() == "1"


def steps(pattern: str, length: int) -> float:
    """No search of this pattern in a text of that length takes more steps than this (times a small constant)."""
    tree = _tree(pattern)
    return math.inf if tree is None else (length + 1) * _ways(tree, length)


@lru_cache(maxsize=256)
def _tree(pattern: str) -> Any:
    try:
        # The reader of `re` itself, so that what is counted is what is matched. It is not public: where a later Python
        # has none, or other nodes, every pattern is matched in a process of its own, which is slow but right.
        return importlib.import_module("re._parser").parse(pattern)
    except (ImportError, AttributeError):
        return None


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
