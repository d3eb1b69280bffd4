"""Compile and match untrusted regular expressions on untrusted text, without letting either run forever.

`re` cannot be interrupted: it holds the GIL, so neither a thread nor a timeout of the event loop ends it. There is no
sure way to recognise dangerous patterns, and a strict rule would refuse useful ones. So this module computes upper
bounds for the steps of compiling and matching from the pattern and the length of the text. What is surely quick runs
here. Anything else runs in a worker process, which is killed after TIMEOUT. Nearly all patterns are quick.
"""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from salvo.engine.sandbox import workers
from salvo.engine.text.messages import excerpt
from salvo.errors import InputError

MAX_STEPS = 20_000_000
"""The limit for a match in this process: a fifth of a second, and mostly far less, as it is an upper bound."""
MAX_COMPILE_STEPS = 100_000
"""The limit for compiling in this process: a few milliseconds."""
MAX_LENGTH = 1_000
"""Characters of a pattern that is read in this process. Reading it takes time, too."""
TIMEOUT = 5.0
"""Seconds for the work in a worker process. Most of it is for starting that process on a busy machine."""

_WIDE_CLASS_STEPS = 60_000
"""For a character class beyond Latin-1, Python compiles a table of 65,536 entries."""
_HINT = "Avoid repetitions inside repetitions, as in (a+)+."


class Occurrences(NamedTuple):
    """The places where a pattern matches, in code points. `more` says that there are further ones.

    If `problem` is set, the search did not finish, and there are no spans: whether the pattern matches is unknown.
    """

    spans: Sequence[tuple[int, int]] = ()
    more: bool = False
    problem: str = ""


def pattern_error(pattern: str) -> str:
    """Return what is wrong with the pattern, as a sentence; empty where it compiles. May block for TIMEOUT."""
    with workers.charged_to_budget() as time_left:
        if not time_left:
            return f"{excerpt(pattern)} was not checked: the patterns before it took too long."
        if _is_cheap(pattern, 0):
            return _error_here(pattern)
        error = _known_errors.get(pattern)
    if error is None:
        answer = workers.run("regex", "pattern_error", {"pattern": pattern, "flags": 0}, seconds=TIMEOUT)
        if answer.failure:
            return f"{excerpt(pattern)} is not accepted: compiling it did not finish{answer.failure}."
        error = answer.results[0]
        if len(_known_errors) >= _MAX_KNOWN:
            _known_errors.clear()
        _known_errors[pattern] = error
    return f"{excerpt(pattern)} is not a regular expression: {error}." if error else ""


_MAX_KNOWN = 256
_known_errors: dict[str, str] = {}
"""What workers said of patterns, because a playbook is read several times. A timeout is not kept: it may be chance."""


def _error_here(pattern: str) -> str:
    try:
        _compiled(pattern, 0)
    except (re.error, OverflowError, RecursionError) as error:
        return f"{excerpt(pattern)} is not a regular expression: {error}."
    return ""


def search(pattern: str, text: str) -> bool:
    """Return whether the pattern matches. May block for TIMEOUT. Raises InputError where it did not finish."""
    if steps(pattern, len(text)) <= MAX_STEPS:
        return _compiled(pattern, 0).search(text) is not None
    [result] = _search_in_worker([pattern], text, flags=0, most=0, empty=True)
    if result.problem:
        raise InputError(result.problem, hint=_HINT)
    return result.more


def occurrences(patterns: Sequence[str], text: str, *, most: int, flags: int = 0) -> list[Occurrences]:
    """Return for each pattern up to `most` places where it matches at least one character. May block for TIMEOUT.

    Slow patterns share one worker and its time, in the order of their step bounds, so a pattern that never ends takes
    no time from quicker ones.
    """
    bounds = {pattern: steps(pattern, len(text), flags) for pattern in patterns}
    quick = {pattern: bound <= MAX_STEPS for pattern, bound in bounds.items()}
    results = {pattern: _search_here(pattern, text, flags, most) for pattern in bounds if quick[pattern]}
    if slow := sorted((pattern for pattern in bounds if not quick[pattern]), key=lambda pattern: bounds[pattern]):
        results.update(zip(slow, _search_in_worker(slow, text, flags=flags, most=most, empty=False), strict=True))
    return [results[pattern] for pattern in patterns]


def _search_here(pattern: str, text: str, flags: int, most: int) -> Occurrences:
    spans: list[tuple[int, int]] = []
    for match in _compiled(pattern, flags).finditer(text):
        if match.end() > match.start():
            if len(spans) == most:
                return Occurrences(spans, more=True)
            spans.append(match.span())
    return Occurrences(spans)


def _search_in_worker(patterns: Sequence[str], text: str, *, flags: int, most: int, empty: bool) -> list[Occurrences]:
    arguments = {"patterns": list(patterns), "text": text, "flags": int(flags), "most": most, "empty": empty}
    answer = workers.run("regex", "occurrences", arguments, seconds=TIMEOUT)
    results = []
    for answered in answer.results:
        spans = [(start, end) for start, end in answered]
        results.append(Occurrences(spans[:most], more=len(spans) > most))
    # The first pattern without a result was running when the worker ended; the others waited.
    unfinished = patterns[len(results) :]
    outcome = f"did not finish on a text of {len(text):,} characters{answer.failure}."
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
    if tree is None or not _is_cheap(pattern, flags):
        return math.inf
    return (length + 1) * _sequence(tree, length).steps


@lru_cache(maxsize=256)
def _is_cheap(pattern: str, flags: int) -> bool:
    """Return whether compiling the pattern, or finding out that it is none, surely takes no time worth mentioning."""
    if len(pattern) > MAX_LENGTH:
        return False
    try:
        tree = _tree(pattern, flags)
    except (re.error, OverflowError):
        return True  # reading it was all the work
    if tree is None:
        return False
    # Flags may also be set for a part of the pattern; taking them for the whole only makes the bound larger.
    ignores_case = bool((tree.state.flags | flags) & re.IGNORECASE) or _CASE_FLAG.search(pattern) is not None
    return _compile_steps(tree, ignores_case) <= MAX_COMPILE_STEPS


_CASE_FLAG = re.compile(r"\(\?[a-zA-Z]*i")


def _compile_steps(tree: Any, ignores_case: bool) -> int:
    return sum(_part_steps(str(kind), part, ignores_case) for kind, part in tree)


def _part_steps(kind: str, part: Any, ignores_case: bool) -> int:
    if kind == "IN":
        return _class_steps(part, ignores_case)
    if kind == "BRANCH":
        return sum(_compile_steps(branch, ignores_case) for branch in part[1])
    if kind == "GROUPREF_EXISTS":
        return sum(_compile_steps(branch, ignores_case) for branch in part[1:] if branch is not None)
    if kind == "ATOMIC_GROUP":
        return _compile_steps(part, ignores_case)
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _compile_steps(part[-1], ignores_case)
    return 1


def _class_steps(members: Any, ignores_case: bool) -> int:
    result = 0
    for kind, member in members:
        first, last = member if str(kind) == "RANGE" else (member, member)
        if isinstance(last, int) and last > _LAST_LATIN_1:
            result = max(result, _WIDE_CLASS_STEPS)
        if isinstance(last, int) and ignores_case:
            result += last - first + 1
    return result + 1


_LAST_LATIN_1 = 255


@lru_cache(maxsize=256)
def _tree(pattern: str, flags: int) -> Any:
    if len(pattern) > MAX_LENGTH:
        return None
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


class _Bound(NamedTuple):
    """For a part of a pattern at one position: the ways in which it may match, and the steps of trying all of them."""

    ways: float
    steps: float


def _sequence(tree: Any, length: int) -> _Bound:
    """Each way of the parts before it is continued with a part, so its steps are done again for each."""
    ways, total = 1.0, 0.0
    for kind, part in tree:
        bound = _part(str(kind), part, length)
        total += ways * bound.steps
        ways *= bound.ways
    return _Bound(ways, max(1.0, total))  # nothing at all may be repeated too


def _part(kind: str, part: Any, length: int) -> _Bound:
    if kind in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"}:
        return _Bound(1.0, 1.0)
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        least, most, body = part
        return _repeat(least, most, body, length)
    if kind == "BRANCH":
        branches = [_sequence(branch, length) for branch in part[1]]
        return _Bound(sum(branch.ways for branch in branches), sum(branch.steps for branch in branches))
    if kind in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
        return _sequence(part[-1], length)
    if kind == "ATOMIC_GROUP":
        return _sequence(part, length)
    return _Bound(1.0, length + 1.0) if kind == "GROUPREF" else _Bound(math.inf, math.inf)


def _repeat(least: int, most: int, tree: Any, length: int) -> _Bound:
    # What matches nothing is repeated as often as it must be, in a text of any length.
    times = max(least, min(most, length))
    body = _sequence(tree, length)
    try:
        ways = float((times + 1) * body.ways**times)
    except OverflowError:
        return _Bound(math.inf, math.inf)
    return _Bound(ways, ways * body.steps)
