"""Two runs side by side, step by step, and where they first differ. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from salvo.engine.jsonio.canonical import stable_text
from salvo.records import record
from salvo.scenarios.analysis.trajectories.trajectory import Trajectory, TrajectoryStep

MOST_PAIRS = 250_000
"""Pairs of steps that are compared to align two runs. Longer runs are aligned step by step, as they are."""
_COMPARED = ("kind", "title", "text", "arguments", "result", "error")
"""Times and tokens differ in every run, so they are not compared."""


@record
class AlignedRow:
    a: TrajectoryStep | None
    b: TrajectoryStep | None
    same: bool
    differs: list[str]
    """The fields that differ, if there are two steps."""


@record
class SideBySide:
    rows: list[AlignedRow]
    first_difference: int | None
    """The first row that differs, from 0."""


def align(a: Trajectory, b: Trajectory) -> SideBySide:
    rows = [_row(step_a, step_b) for step_a, step_b in _align_steps(a.steps, b.steps)]
    return SideBySide(rows, next((number for number, row in enumerate(rows) if not row.same), None))


def _row(a: TrajectoryStep | None, b: TrajectoryStep | None) -> AlignedRow:
    if a is None or b is None:
        return AlignedRow(a, b, same=False, differs=[])
    differs = [name for name in _COMPARED if stable_text(getattr(a, name)) != stable_text(getattr(b, name))]
    return AlignedRow(a, b, same=not differs, differs=differs)


_Pair = tuple[TrajectoryStep | None, TrajectoryStep | None]
_Key = tuple[str, str]


def _align_steps(a: Sequence[TrajectoryStep], b: Sequence[TrajectoryStep]) -> Iterator[_Pair]:
    """Pair steps of the same kind, in order. The steps between two such pairs are put side by side."""
    *before_a, end_a = a
    *before_b, end_b = b
    next_a = next_b = 0
    for index_a, index_b in _matches([_key(step) for step in before_a], [_key(step) for step in before_b]):
        yield from zip_longest(before_a[next_a:index_a], before_b[next_b:index_b])
        yield before_a[index_a], before_b[index_b]
        next_a, next_b = index_a + 1, index_b + 1
    yield from zip_longest(before_a[next_a:], before_b[next_b:])
    yield end_a, end_b


def _key(step: TrajectoryStep) -> _Key:
    return step.kind, step.title if step.kind in ("tool", "event") else ""


def _matches(a: Sequence[_Key], b: Sequence[_Key]) -> Iterator[tuple[int, int]]:
    """Yield the indexes of steps that belong together: first those with which both runs begin."""
    pairs = list(zip(a, b, strict=False))
    start = next((index for index, (key_a, key_b) in enumerate(pairs) if key_a != key_b), len(pairs))
    yield from ((index, index) for index in range(start))
    if (len(a) - start) * (len(b) - start) > MOST_PAIRS:
        yield from ((index, index) for index in range(start, len(pairs)) if pairs[index][0] == pairs[index][1])
        return
    for block in SequenceMatcher(None, a[start:], b[start:], autojunk=False).get_matching_blocks():
        yield from ((start + block.a + offset, start + block.b + offset) for offset in range(block.size))
