"""`byop validate`: every problem of a playbook, and no call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode
from salvo.engine.runtime.files import read_up_to

if TYPE_CHECKING:
    from salvo.playbooks.playbook.document import PlaybookProblem


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def validate(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Check a playbook's file, without any call.

    Every problem is listed with its JSON path. An error keeps the playbook from being used, and the command exits
    with 2. A warning is something that the specification asks for, or that is likely not meant.
    """
    from salvo.playbooks.playbook.document import LARGEST
    from salvo.playbooks.playbook.validate import examine

    _, problems = examine(read_up_to(file, LARGEST))
    errors = [problem for problem in problems if problem.level == "error"]
    warnings = [problem for problem in problems if problem.level == "warning"]
    if as_json:
        shown = {"file": str(file), "valid": not errors, "errors": _plain(errors), "warnings": _plain(warnings)}
        click.echo(json.dumps(shown, indent=2))
    else:
        _show(file, errors, warnings)
    if errors:
        ctx.exit(ExitCode.USAGE)


def _plain(problems: list[PlaybookProblem]) -> list[dict[str, str]]:
    return [{"path": problem.path, "message": problem.message} for problem in problems]


def _show(file: Path, errors: list[PlaybookProblem], warnings: list[PlaybookProblem]) -> None:
    from salvo.engine.text.unicode_escape import printable

    for problem in errors:
        click.echo(f"{click.style('error', fg='red')}    {printable(str(problem), multiline=True)}")
    for problem in warnings:
        click.echo(f"{click.style('warning', fg='yellow')}  {printable(str(problem), multiline=True)}")
    said = "cannot be used" if errors else "is a playbook that can be used"
    click.echo(
        f"{printable(str(file), multiline=True)} {said}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}."
    )


def _counted(problems: list[PlaybookProblem], noun: str) -> str:
    return f"{len(problems) or 'no'} {noun}{'' if len(problems) == 1 else 's'}"
