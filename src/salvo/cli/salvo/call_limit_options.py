"""The options that limit calls to providers, which several commands have."""

from __future__ import annotations

from collections.abc import Callable

import click

from salvo.cli.options import Command, option_set
from salvo.cli.param_types import SECONDS


def call_limit_options(default_timeout: str) -> Callable[[Command], Command]:
    """Return a decorator that adds the options. `default_timeout` describes the limit of a call without one."""
    return option_set(
        click.option(
            "--call-timeout", type=SECONDS, help=f"Seconds that one call may take. [default: {default_timeout}]"
        ),
        click.option("--connect-timeout", type=SECONDS, help="Seconds to connect to a provider. [default: 10]"),
        click.option(
            "--read-timeout", type=SECONDS, help="Seconds without data from a provider. [default: --call-timeout]"
        ),
        click.option(
            "--tries", type=click.IntRange(1, 100), help="How often a call is made before it is an error. [default: 6]"
        ),
    )
