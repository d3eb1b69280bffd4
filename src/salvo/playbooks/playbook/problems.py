"""What is wrong with a playbook, and where."""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple, TypeAlias

Level: TypeAlias = Literal["error", "warning"]
"""An error: the evaluation could not be done, or not as the document says. A warning: it can do without."""
Steps: TypeAlias = tuple[str | int, ...]


class PlaybookProblem(NamedTuple):
    path: str
    """In JSONPath, "$" for the whole: $.checks[2].detection_method.type"""
    level: Level
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def error(steps: Steps, message: str) -> PlaybookProblem:
    return PlaybookProblem(json_path(steps), "error", message)


def warning(steps: Steps, message: str) -> PlaybookProblem:
    return PlaybookProblem(json_path(steps), "warning", message)


def json_path(steps: Steps) -> str:
    return "$" + "".join(map(_step, steps))


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _NAME.fullmatch(step):
        return f".{step}"
    short = step if len(step) <= _LONGEST_STEP else f"{step[:_LONGEST_STEP]}…"
    return f"[{json.dumps(short)}]"


_LONGEST_STEP = 60
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{_LONGEST_STEP}}}")
