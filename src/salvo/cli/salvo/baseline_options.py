"""The options of a comparison with a baseline, and of pass@k, which `salvo run` and `salvo merge` have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from salvo.cli.options import option_set

if TYPE_CHECKING:
    from salvo.cli.salvo.run_baseline import Baseline
    from salvo.scenarios.spec.project import Project

DEFAULT_BASELINE = "-"
"""The value of --against-baseline without a file."""


def _check_commits(context: click.Context, _parameter: click.Parameter, commits: int) -> int:
    is_given = context.get_parameter_source("commits") is ParameterSource.COMMANDLINE
    if is_given and context.params.get("baseline") is None:
        raise click.UsageError(
            "--commits says how many comparisons with a baseline share their false alarms, so it has no effect here. "
            "Add --against-baseline, or omit --commits."
        )
    return commits


baseline_options = option_set(
    click.option(
        "--against-baseline",
        "baseline",
        is_flag=False,
        flag_value=DEFAULT_BASELINE,
        is_eager=True,  # before --commits, which is checked with it
        metavar="[FILE]",
        help="Compare with a baseline afterwards. [default: .salvo/baseline.json]",
    ),
    click.option(
        "--commits",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        callback=_check_commits,
        help="With --against-baseline: over this many comparisons, a false alarm has a probability of at most 5 %.",
    ),
    click.option("--pass-at-k", is_flag=True, help="Also show pass@k: the chance that at least one of k runs passes."),
)


def read_baseline(project: Project, name: str | None) -> Baseline | None:
    """Return the baseline that --against-baseline names; None without the option."""
    if name is None:
        return None
    from salvo.cli.salvo.run_baseline import Baseline  # most commands need none of its statistics

    return Baseline.read(project, None if name == DEFAULT_BASELINE else name)
