"""Truncate the long values of a run for display. The run's file has them in full. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.scenarios.analysis.trajectories.alignment import SideBySide
from salvo.scenarios.analysis.trajectories.trajectory import Trajectory, TrajectoryStep
from salvo.scenarios.result import EvalResult

LONGEST = 20_000
"""Characters of one value."""
LONGEST_IN_ALL = 1_000_000
"""Characters of all values of a run. Once they are used up, only the beginning of each value is shown."""
BEGINNING = 200


@dataclass(slots=True)
class TruncationBudget:
    """The characters that may still be shown."""

    remaining: int = LONGEST_IN_ALL

    def fit(self, value: Any) -> tuple[Any, int | None]:
        """Return the value, or its beginning as text together with its full length."""
        text = value if isinstance(value, str) else json_codec.dumps(value).decode("utf-8", "replace")
        most = LONGEST if self.remaining > LONGEST else BEGINNING
        self.remaining -= min(len(text), most)
        return (value, None) if len(text) <= most else (f"{text[:most]}…", len(text))


_STEP_FIELDS = ("text", "arguments", "result", "error")
_ASSERTION_FIELDS = ("message", "expected", "actual", "error", "details", "attachments")


def truncate_trajectory(trajectory: Trajectory, budget: TruncationBudget) -> Trajectory:
    return Trajectory([_truncate_step(step, budget) for step in trajectory.steps], trajectory.overall)


def truncate_side_by_side(aligned: SideBySide) -> SideBySide:
    """Truncate two runs that were compared in full: a difference may be in what is left out."""
    budget = TruncationBudget()
    rows = [
        replace(row, a=row.a and _truncate_step(row.a, budget), b=row.b and _truncate_step(row.b, budget))
        for row in aligned.rows
    ]
    return SideBySide(rows, aligned.first_difference)


def truncate_assertions(results: list[EvalResult], budget: TruncationBudget) -> tuple[list[EvalResult], dict[str, int]]:
    """Return the results, and the fields that were cut, such as "0.actual", each with its full length."""
    truncated: list[EvalResult] = []
    full_lengths: dict[str, int] = {}
    for number, result in enumerate(results):
        fields, lengths = _truncate_fields(result, _ASSERTION_FIELDS, budget)
        # These must stay objects, and a part of an object is not one.
        fields |= {name: {} for name in ("details", "attachments") if name in lengths}
        truncated.append(result.model_copy(update=fields) if lengths else result)
        full_lengths |= {f"{number}.{name}": length for name, length in lengths.items()}
    return truncated, full_lengths


def _truncate_step(step: TrajectoryStep, budget: TruncationBudget) -> TrajectoryStep:
    fields, lengths = _truncate_fields(step, _STEP_FIELDS, budget)
    return replace(step, **fields, cut=lengths) if lengths else step


def _truncate_fields(
    item: TrajectoryStep | EvalResult, names: tuple[str, ...], budget: TruncationBudget
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the fields that are too long, truncated, and their full lengths."""
    fields, lengths = {}, {}
    for name in names:
        value = getattr(item, name)
        if value is None or value in ("", {}):
            continue
        text, full_length = budget.fit(value)
        if full_length is not None:
            fields[name], lengths[name] = text, full_length
    return fields, lengths
