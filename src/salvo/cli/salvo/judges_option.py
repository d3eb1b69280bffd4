"""The option --judges, of the commands that ask judges."""

from __future__ import annotations

import click

judges_option = click.option(
    "--judges",
    type=click.Choice(["direct", "batch"]),
    default="direct",
    show_default=True,
    help="How judges are asked; batch: through the providers' batch APIs at half the price, within a day. "
    "`salvo collect` fetches their votes.",
)
