"""The options of a comparison with a baseline, and of pass@k, which `salvo run` and `salvo merge` have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_BASELINE = "-"
"""The value of --against-baseline without a file."""

_OPTIONS = (
    click.option(
        "--against-baseline",
        "baseline",
        is_flag=False,
        flag_value=DEFAULT_BASELINE,
        metavar="[FILE]",
        help="Compare with a baseline afterwards. [default: .salvo/baseline.json]",
    ),
    click.option(
        "--commits",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="With --against-baseline: over this many comparisons, a false alarm has a probability of at most 5 %.",
    ),
    click.option("--pass-at-k", is_flag=True, help="Also show pass@k: the chance that at least one of k runs passes."),
)


def baseline_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
