"""The options of the commands that collect the answers of a provider's batch API."""

from __future__ import annotations

import click

from salvo.cli.options import option_set
from salvo.cli.param_types import SECONDS

wait_options = option_set(
    click.option("--wait", is_flag=True, help="Ask again until the provider has answered everything."),
    click.option(
        "--every",
        "interval",
        type=SECONDS,
        default=60,
        show_default=True,
        help="With --wait: seconds between two looks.",
    ),
)
