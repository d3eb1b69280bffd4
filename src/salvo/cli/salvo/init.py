"""`salvo init`: make a project that can be run at once."""

from __future__ import annotations

from pathlib import Path

import click


@click.command
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Make a project with an example scenario that runs without a key.

    FOLDER is created if it does not exist; without one, it is the current folder. Existing files are not changed.
    """
    from salvo.cli.salvo import init_command

    init_command.init(folder)
