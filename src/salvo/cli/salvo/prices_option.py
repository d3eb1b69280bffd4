"""The option --prices, which several commands have."""

from __future__ import annotations

import click

from salvo.cli.param_types import FILE_PATH

prices_option = click.option(
    "--prices",
    "price_file",
    type=FILE_PATH,
    metavar="FILE",
    help="A TOML file with prices of your own, besides [tool.salvo.prices] in the project's pyproject.toml.",
)
