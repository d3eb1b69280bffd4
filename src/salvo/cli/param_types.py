"""Numbers on the command line. They refuse NaN, which every range would accept."""

from __future__ import annotations

import math
from typing import Any

import click


class _NumberRange(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


SECONDS = _NumberRange(min=0, max=86_400, min_open=True)
DOLLARS = _NumberRange(min=0)
SHARE = _NumberRange(0, 1)
INNER_SHARE = _NumberRange(0, 1, min_open=True, max_open=True)
