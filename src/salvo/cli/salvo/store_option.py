"""The option --store, which every command has that reads or writes stored runs."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    "store_address",
    metavar="ADDRESS",
    envvar="SALVO_STORE",
    help="Where runs are stored: a folder, or an object store such as s3://bucket/prefix. SALVO_STORE sets it for all "
    "commands. [default: .salvo]",
)
