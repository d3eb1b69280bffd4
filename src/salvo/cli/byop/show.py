"""`byop show`: a stored report, on the screen or as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from salvo.cli.byop.signing_option import sign_option


@click.command
@click.argument("evaluation_id", metavar="ID")
@click.option(
    "-o",
    "--output",
    "outputs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Write the report to FILE: .json, .html, .md or .xml (JUnit). May be given several times.",
    metavar="FILE",
)
@sign_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(**options: Any) -> None:
    """Show a stored report, and write it to files.

    ID is a report's id, a prefix of it, or `latest`. The audit log records every file. Signatures are not stored:
    --sign creates a new one.
    """
    from salvo.cli.byop import show_command

    show_command.show(**options)
