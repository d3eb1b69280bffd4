"""The differences between two JSON values. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from salvo.engine.jsonio.canonical import stable_text

MAX_EXCERPT = 60
"""Characters of a value in a message."""


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()


class Difference(NamedTuple):
    path: str
    before: Any
    after: Any

    def text(self, before: str = "before", after: str = "after") -> str:
        """Return one line with both values, cut to where they begin to differ."""
        old, new = _display(self.before), _display(self.after)
        start = max(0, _common_prefix(old, new) - MAX_EXCERPT // 3)
        path = _display(self.path)[1:-1] or "the whole"  # escaped: a name may contain a line break
        return f"{path}: {before} {_excerpt(old, start)}, {after} {_excerpt(new, start)}"


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """Yield every difference, in the order of the first value. Lists are compared position by position."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            below = f"{path}.{name}" if path else str(name)
            yield from differences(before.get(name, MISSING), after.get(name, MISSING), below)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=MISSING)):
            yield from differences(old, new, f"{path}[{index}]")
    elif stable_text(before) != stable_text(after):  # as in a tape: 1 and 1.0 differ, NaN and NaN do not
        yield Difference(path, before, after)


def _display(value: Any) -> str:
    if value is MISSING:
        return "missing"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return stable_text(value)
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate cannot be printed or written to a file


def _common_prefix(old: str, new: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _excerpt(text: str, start: int) -> str:
    end = start + MAX_EXCERPT
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
