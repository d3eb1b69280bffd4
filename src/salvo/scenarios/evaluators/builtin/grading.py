"""The scale of a graded `llm_judge`: grades with anchors, what the judge is asked, and what its grades come to.

A grade is a whole number from the lowest anchor to the highest. A vote passes from `min_grade` on, and passing and
failing each need more than half of the votes, as without a scale. The grade of the run is the median of the votes; of
two middle ones, the lower. It is on the same side of `min_grade` as the majority.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

from salvo.engine.chat.base import OutputSchema, object_schema

MOST_GRADES = 100
REASON = {"type": "string", "description": "Why, in one or two sentences."}


def _with_number_keys(value: Any) -> Any:
    """Convert the keys, which are text in YAML and JSON."""
    if not isinstance(value, Mapping):
        return value
    if any(isinstance(key, str) and not re.fullmatch(r"-?\d{1,6}", key) for key in value):
        raise ValueError("must have whole numbers as grades, each with what it means")
    return {int(key) if isinstance(key, str) else key: text for key, text in value.items()}


Scale: TypeAlias = Annotated[dict[int, str], BeforeValidator(_with_number_keys)]
"""What some grades mean, by grade. The grades between them may be given, too."""


def scale_errors(scale: Scale | None, min_grade: int | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the fields of a graded judge."""
    if scale is None:
        if min_grade is not None:
            yield "min_grade", "min_grade needs a scale."
        return
    if len(scale) < 2 or max(scale) - min(scale) >= MOST_GRADES:
        yield "scale", f"A scale has at least two anchors, and at most {MOST_GRADES} grades."
    elif any(not text.strip() for text in scale.values()):
        yield "scale", "An anchor says what its grade means; one is empty."
    elif min_grade is None:
        yield "scale", "A scale needs min_grade, the grade from which a vote passes."
    elif not min(scale) < min_grade <= max(scale):
        yield "min_grade", f"min_grade must be from {min(scale) + 1} to {max(scale)}: otherwise every vote agrees."


def grade_schema(scale: Scale) -> OutputSchema:
    return OutputSchema(
        "scaled_grade",
        object_schema(
            {
                "grade": {
                    "type": "integer",
                    "enum": list(range(min(scale), max(scale) + 1)),
                    "description": "The grade of the run on the scale.",
                },
                "reason": REASON,
            }
        ),
    )


def scale_text(scale: Scale) -> str:
    """Return the scale as the judge reads it, highest grade first."""
    anchors = "\n".join(f"{grade}: {text.strip()}" for grade, text in sorted(scale.items(), reverse=True))
    return f"The scale, from {min(scale)} to {max(scale)}; a grade between two of these is allowed:\n{anchors}"


def median(grades: Sequence[int]) -> int:
    """Return the middle grade; of two middle ones, the lower."""
    return sorted(grades)[(len(grades) - 1) // 2]


def scaled_score(grade: int, scale: Scale, min_grade: int) -> float:
    """Return 1 from `min_grade` on, and below it the share of the way there."""
    return min(1.0, (grade - min(scale)) / (min_grade - min(scale)))
