"""Numbers on the command line. What is no number is in no range, though no comparison says so."""

from __future__ import annotations

import math
from typing import Any

import click


class _Range(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number.", param, ctx)
        return number


DOLLARS = _Range(min=0)
SHARE = _Range(0, 1)
INNER_SHARE = _Range(0, 1, min_open=True, max_open=True)
