"""The options of the commands that collect the answers of a provider's batch API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from salvo.cli.param_types import SECONDS

Command = TypeVar("Command", bound=Callable[..., Any])


def wait_options(command: Command) -> Command:
    """Add --wait and --every."""
    every = click.option(
        "--every",
        "interval",
        type=SECONDS,
        default=60,
        show_default=True,
        help="With --wait: seconds between two looks.",
    )
    wait = click.option("--wait", is_flag=True, help="Ask again until the provider has answered everything.")
    return wait(every(command))
