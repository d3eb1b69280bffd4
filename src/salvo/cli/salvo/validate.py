"""`salvo validate`: list every problem of every scenario file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
def validate(path: Path | None) -> None:
    """Check scenario files, without any call.

    PATH is a scenario file or a folder of them; without one it is scenarios/, or else the current folder. Every
    problem of every file is listed with its line and column, and the command exits with 2 if there are any. The
    Python code that a scenario names is imported.
    """
    from salvo.cli.salvo import validate_command

    validate_command.validate(path)
