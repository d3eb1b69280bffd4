"""`byop validate`: check a playbook file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate(file: Path, as_json: bool) -> None:
    """Check a playbook file, without calling a model.

    Every problem is listed with its JSON path. A playbook with an error cannot be used, and the command exits with 2. A
    warning is about something that the specification asks for, or that is probably a mistake.
    """
    from salvo.cli.byop import validate_command

    validate_command.validate(file, as_json)
