"""Numbers and paths on the command line."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from pathlib import Path


class _NumberRange(click.FloatRange):
    """Refuses NaN, which every range of click accepts."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class _FilePath(click.Path):
    """Like `click.Path(path_type=Path)`, without the import of pathlib for --help."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from pathlib import Path  # a tenth of the time of `salvo run --help`, which needs none

        return Path(os.fsdecode(super().convert(value, param, ctx)))


class RunsAtOnce(NamedTuple):
    """How many runs are made at once; `is_adaptive`: at first, and more while providers accept their calls."""

    start: int
    is_adaptive: bool = False

    def for_shard(self, shards: int) -> RunsAtOnce:
        """Return the part of one of several shards. Together, adaptive ones start as one command does."""
        return self._replace(start=math.ceil(self.start / shards)) if self.is_adaptive else self


class _RunsAtOnceType(click.ParamType[RunsAtOnce]):
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> RunsAtOnce:
        if isinstance(value, RunsAtOnce):
            return value
        if value == "auto":
            return RunsAtOnce(10, is_adaptive=True)
        if not _is_integer(value):
            self.fail(f"{value!r} is neither a number nor auto.", param, ctx)
        return RunsAtOnce(click.IntRange(min=1).convert(value, param, ctx))


class _NumberAtOnce(click.IntRange):
    """For commands that do not adapt to what providers accept."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "auto":
            self.fail("auto is for `salvo run` only; a number is needed here.", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def _is_integer(value: Any) -> bool:
    try:
        int(value)
    except ValueError:
        return False
    return True


FILE_PATH = _FilePath()
RUNS_AT_ONCE = _RunsAtOnceType()
NUMBER_AT_ONCE = _NumberAtOnce(min=1)
SECONDS = _NumberRange(min=0, max=86_400, min_open=True)
DOLLARS = _NumberRange(min=0)
SHARE = _NumberRange(0, 1)
INNER_SHARE = _NumberRange(0, 1, min_open=True, max_open=True)
