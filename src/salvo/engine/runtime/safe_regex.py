"""Match untrusted regular expressions on untrusted text without letting a match run forever.

A match of `re` cannot be interrupted: it holds the GIL, so neither a thread nor a timeout of the event loop ends it.
There is no sure way to recognise dangerous patterns, and a strict rule would refuse useful ones. So this module
computes an upper bound for the steps from the pattern and the length of the text. A match that is surely quick runs
here. Any other match runs in a separate process, which is killed after TIMEOUT. Nearly all patterns are quick.
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

MAX_STEPS = 5_000_000
"""The limit for a match in this process: at most a tenth of a second."""
TIMEOUT = 5.0
"""Seconds for the matches in a separate process. Most of it is for starting that process on a busy machine."""

_HINT = "Avoid repetitions inside repetitions, as in (a+)+."


class Occurrences(NamedTuple):
    """The places where a pattern matches, in code points. `more` says that there are further ones.

    If `problem` is set, the search did not finish, and there are no spans: whether the pattern matches is unknown.
    """

    spans: Sequence[tuple[int, int]] = ()
    more: bool = False
    problem: str = ""


def pattern_error(pattern: str) -> str:
    """Return what is wrong with the pattern, as a sentence; empty where it compiles."""
    try:
        _compiled(pattern, 0)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{excerpt(pattern)} is not a regular expression: {error}."
    return ""


def search(pattern: str, text: str) -> bool:
    """Return whether the pattern matches. May block for TIMEOUT. Raises InputError where it did not finish."""
    if steps(pattern, len(text)) <= MAX_STEPS:
        return _compiled(pattern, 0).search(text) is not None
    [result] = _search_in_process([pattern], text, flags=0, most=0, empty=True)
    if result.problem:
        raise InputError(result.problem, hint=_HINT)
    return result.more


def occurrences(patterns: Sequence[str], text: str, *, most: int, flags: int = 0) -> list[Occurrences]:
    """Return for each pattern up to `most` places where it matches at least one character. May block for TIMEOUT.

    Slow patterns share one process and its time, in the order of their step bounds, so a pattern that never ends takes
    no time from quicker ones.
    """
    bounds = {pattern: steps(pattern, len(text), flags) for pattern in patterns}
    quick = {pattern: bound <= MAX_STEPS for pattern, bound in bounds.items()}
    results = {pattern: _search_here(pattern, text, flags, most) for pattern in bounds if quick[pattern]}
    if slow := sorted((pattern for pattern in bounds if not quick[pattern]), key=lambda pattern: bounds[pattern]):
        results.update(zip(slow, _search_in_process(slow, text, flags=flags, most=most, empty=False), strict=True))
    return [results[pattern] for pattern in patterns]


def _search_here(pattern: str, text: str, flags: int, most: int) -> Occurrences:
    spans: list[tuple[int, int]] = []
    for match in _compiled(pattern, flags).finditer(text):
        if match.end() > match.start():
            if len(spans) == most:
                return Occurrences(spans, more=True)
            spans.append(match.span())
    return Occurrences(spans)


# It prints one line per pattern, so the results before a timeout are not lost.
_CHILD = """
import json, re, sys
request = json.load(sys.stdin)
for pattern in request["patterns"]:
    spans = []
    for match in re.finditer(pattern, request["text"], request["flags"]):
        if request["empty"] or match.end() > match.start():
            spans.append(match.span())
            if len(spans) > request["most"]:
                break
    print(json.dumps(spans), flush=True)
"""


def _search_in_process(patterns: Sequence[str], text: str, *, flags: int, most: int, empty: bool) -> list[Occurrences]:
    request = {"patterns": patterns, "text": text, "flags": int(flags), "most": most, "empty": empty}
    try:
        child = subprocess.run(  # noqa: S603 - our own interpreter with our own text
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _CHILD],
            input=json.dumps(request).encode("ascii"),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        output, reason = child.stdout, f": its process ended with code {child.returncode}"
    except subprocess.TimeoutExpired as error:
        output, reason = error.stdout or b"", f" after {TIMEOUT:g} seconds"
    except OSError as error:
        output, reason = b"", f": no process could be started ({error.strerror})"
    results = []
    for line in output.split(b"\n")[:-1]:
        spans = [(start, end) for start, end in json.loads(line)]
        results.append(Occurrences(spans[:most], more=len(spans) > most))
    # The first pattern without a result was running when the process ended; the others waited.
    unfinished = patterns[len(results) :]
    outcome = f"did not finish on a text of {len(text):,} characters{reason}."
    for pattern in unfinished:
        results.append(Occurrences(problem=f"The regular expression {excerpt(pattern)} {outcome}"))
        if pattern == unfinished[0]:
            outcome = f"was not tried, because {excerpt(pattern)} {outcome}"
    return results


@lru_cache(maxsize=256)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    # The user can do nothing about Python's warnings for a pattern from elsewhere.
    with _quiet():
        return re.compile(pattern, flags)


def steps(pattern: str, length: int, flags: int = 0) -> float:
    """Return an upper bound for the steps of a search in a text of this length, up to a small constant factor."""
    tree = _tree(pattern, flags)
    return math.inf if tree is None else (length + 1) * _ways(tree, length)


@lru_cache(maxsize=256)
def _tree(pattern: str, flags: int) -> Any:
    try:
        # The parser of `re` itself, so that the bound is for what is matched. It is not public: if a later Python has
        # none, or other nodes, every pattern is matched in a separate process, which is slow but correct.
        parser = importlib.import_module("re._parser")
        with _quiet():
            return parser.parse(pattern, flags)
    except (ImportError, AttributeError, RecursionError):
        return None


@contextmanager
def _quiet() -> Iterator[None]:
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_warnings_lock = Lock()
"""Warnings are turned off for the whole process, and two threads at once could leave them off."""


def _ways(tree: Any, length: int) -> float:
    """Return how many ways a backtracking search may try at one position: the product over the parts."""
    return math.prod((_choices(str(kind), part, length) for kind, part in tree), start=1.0)


def _choices(kind: str, part: Any, length: int) -> float:
    if kind in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}:
        return 1.0
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        times: int = min(part[1], length)
        try:
            return float((times + 1) * _ways(part[2], length) ** times)
        except OverflowError:
            return math.inf
    if kind == "BRANCH":
        return sum(_ways(branch, length) for branch in part[1])
    if kind in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _ways(part[-1], length)
    if kind == "ATOMIC_GROUP":
        return _ways(part, length)
    return float(length + 1) if kind == "GROUPREF" else math.inf
