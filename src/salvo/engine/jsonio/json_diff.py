"""Where two JSON values part. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from salvo.engine.jsonio.canonical import stable_text

SHOWN = 60
"""How much of a value a person is shown."""


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()


class Difference(NamedTuple):
    path: str
    before: Any
    after: Any

    def text(self, before: str = "before", after: str = "after") -> str:
        """One line, the two values cut to where they part."""
        old, new = _written(self.before), _written(self.after)
        start = max(0, _common_prefix(old, new) - SHOWN // 3)
        path = _written(self.path)[1:-1] or "the whole"  # a name may hold a line break, or worse
        return f"{path}: {before} {_cut(old, start)}, {after} {_cut(new, start)}"


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """Every place that differs, in the order of the first value; lists are compared position by position."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            below = f"{path}.{name}" if path else str(name)
            yield from differences(before.get(name, MISSING), after.get(name, MISSING), below)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=MISSING)):
            yield from differences(old, new, f"{path}[{index}]")
    elif stable_text(before) != stable_text(after):  # as a tape tells values apart: 1 from 1.0, not NaN from NaN
        yield Difference(path, before, after)


def _written(value: Any) -> str:
    if value is MISSING:
        return "missing"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return stable_text(value)
    return text.encode("utf-8", "backslashreplace").decode()  # no terminal and no file takes a lone surrogate


def _common_prefix(old: str, new: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _cut(text: str, start: int) -> str:
    shown = text[start : start + SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + SHOWN < len(text) else ''}"
