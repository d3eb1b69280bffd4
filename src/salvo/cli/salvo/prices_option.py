"""The option --prices, which several commands have."""

from __future__ import annotations

from pathlib import Path

import click

prices_option = click.option(
    "--prices",
    "price_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with prices of your own, besides [tool.salvo.prices] in the project's pyproject.toml.",
)
