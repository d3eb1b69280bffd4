"""Two runs side by side, step by step, and where they first differ. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from salvo.engine.jsonio.canonical import stable_text
from salvo.scenarios.analysis.trajectory import Trajectory, TrajectoryStep

MOST_CELLS = 250_000
"""Pairs of steps that are weighed to find which go together; where there are more, they are paired as they come."""
_COMPARED = ("kind", "title", "text", "arguments", "result", "error")
"""Times and tokens are no difference: no two runs have the same."""


@dataclass(frozen=True, slots=True)
class AlignedRow:
    a: TrajectoryStep | None
    b: TrajectoryStep | None
    same: bool
    differs: list[str]
    """The fields that are not the same, where there are two steps."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    rows: list[AlignedRow]
    first_difference: int | None
    """The first row that is not the same, from 0."""


def align(a: Trajectory, b: Trajectory) -> SideBySide:
    rows = [_row(one, other) for one, other in _paired(a.steps, b.steps)]
    return SideBySide(rows, next((number for number, row in enumerate(rows) if not row.same), None))


def _row(a: TrajectoryStep | None, b: TrajectoryStep | None) -> AlignedRow:
    if a is None or b is None:
        return AlignedRow(a, b, same=False, differs=[])
    differs = [name for name in _COMPARED if stable_text(getattr(a, name)) != stable_text(getattr(b, name))]
    return AlignedRow(a, b, same=not differs, differs=differs)


_Pair = tuple[TrajectoryStep | None, TrajectoryStep | None]


def _paired(a: Sequence[TrajectoryStep], b: Sequence[TrajectoryStep]) -> Iterator[_Pair]:
    """Steps of the same kind go together, in order; what stands between two such pairs is put side by side."""
    *before_a, end_a = a
    *before_b, end_b = b
    done_a = done_b = 0
    for at_a, at_b in _together([_what(step) for step in before_a], [_what(step) for step in before_b]):
        yield from zip_longest(before_a[done_a:at_a], before_b[done_b:at_b])
        yield before_a[at_a], before_b[at_b]
        done_a, done_b = at_a + 1, at_b + 1
    yield from zip_longest(before_a[done_a:], before_b[done_b:])
    yield end_a, end_b


def _what(step: TrajectoryStep) -> tuple[str, str]:
    return step.kind, step.title if step.kind in ("tool", "event") else ""


def _together(a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """The longest line of steps that both have in this order: those that they begin with, then by weighing."""
    begin = next((i for i, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    return [*((i, i) for i in range(begin)), *((i + begin, j + begin) for i, j in _longest(a[begin:], b[begin:]))]


def _longest(a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    if len(a) * len(b) > MOST_CELLS:
        yield from ((i, i) for i, (one, other) in enumerate(zip(a, b, strict=False)) if one == other)
        return
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            same = a[i] == b[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
