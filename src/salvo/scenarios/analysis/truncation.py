"""What is shown of a run: long values cut short, and said so. The whole stands in the run's file. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.scenarios.analysis.alignment import SideBySide
from salvo.scenarios.analysis.trajectory import Trajectory, TrajectoryStep
from salvo.scenarios.result import EvalResult

LONGEST = 20_000
"""Characters of one value."""
LONGEST_IN_ALL = 1_000_000
"""Characters of all values of a run; where it has more, those after it are cut to their beginning."""
BEGINNING = 200


@dataclass(slots=True)
class TruncationBudget:
    """How much may still be shown."""

    left: int = LONGEST_IN_ALL

    def fit(self, value: Any) -> tuple[Any, int | None]:
        """The value, or its beginning as text; then with the characters that it has in full."""
        text = value if isinstance(value, str) else json_codec.dumps(value).decode("utf-8", "replace")
        most = LONGEST if self.left > LONGEST else BEGINNING
        self.left -= min(len(text), most)
        return (value, None) if len(text) <= most else (f"{text[:most]}…", len(text))


_OF_A_STEP = ("text", "arguments", "result", "error")
_OF_AN_ASSERTION = ("message", "expected", "actual", "error", "details", "attachments")


def shortened(trajectory: Trajectory, room: TruncationBudget | None = None) -> Trajectory:
    """The same steps, none of them longer than can be read."""
    room = room or TruncationBudget()
    return Trajectory([_step(step, room) for step in trajectory.steps], trajectory.overall)


def shortened_rows(of: SideBySide) -> SideBySide:
    """Cut after they were compared: a difference may stand behind the cut."""
    room = TruncationBudget()
    rows = [replace(row, a=row.a and _step(row.a, room), b=row.b and _step(row.b, room)) for row in of.rows]
    return SideBySide(rows, of.first_difference)


def _step(step: TrajectoryStep, room: TruncationBudget) -> TrajectoryStep:
    fields, cut = _fitted(step, _OF_A_STEP, room)
    return replace(step, **fields, cut=cut) if cut else step


def assertions(results: list[EvalResult], room: TruncationBudget) -> tuple[list[EvalResult], dict[str, int]]:
    """And which fields were cut, such as "0.actual", each with the characters that it has in full."""
    kept: list[EvalResult] = []
    all_cut: dict[str, int] = {}
    for number, result in enumerate(results):
        fields, cut = _fitted(result, _OF_AN_ASSERTION, room)
        # What must be an object stays one; a part of it would be none.
        fields |= {name: {} for name in ("details", "attachments") if name in cut}
        kept.append(replace(result, **fields) if cut else result)
        all_cut |= {f"{number}.{name}": length for name, length in cut.items()}
    return kept, all_cut


def _fitted(of: Any, names: tuple[str, ...], room: TruncationBudget) -> tuple[dict[str, Any], dict[str, int]]:
    fields, cut = {}, {}
    for name in names:
        value = getattr(of, name)
        if value is None or value in ("", {}):
            continue
        shown, whole = room.fit(value)
        if whole is not None:
            fields[name], cut[name] = shown, whole
    return fields, cut
