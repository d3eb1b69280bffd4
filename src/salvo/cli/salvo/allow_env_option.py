"""The option --allow-env, which several commands have."""

from __future__ import annotations

import click

allow_env_option = click.option(
    "--allow-env",
    "allow_env",
    multiple=True,
    metavar="NAME",
    help="Let a scenario send this credential of the environment to an address that its file names.",
)
