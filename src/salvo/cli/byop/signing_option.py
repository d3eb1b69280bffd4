"""The option --sign."""

from __future__ import annotations

import click

DEFAULT_KEY = "the default key"
"""What the option has without a file."""

sign_option = click.option(
    "--sign",
    "signing_key",
    is_flag=False,
    flag_value=DEFAULT_KEY,
    metavar="[=FILE]",
    help="Sign the report's files with this key, or with your default key (byop keys new).",
)
