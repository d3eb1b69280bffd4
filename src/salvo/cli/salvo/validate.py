"""`salvo validate`: every problem of every file, and no call."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.pass_context
def validate(ctx: click.Context, path: Path | None) -> None:
    """Check scenario files, without any call.

    PATH is a scenario's file or a folder of them; without one it is scenarios/, else the current folder. Every
    problem of every file is listed with its line and column, and the command exits with 2 if there are any. The
    Python that a scenario names is imported.
    """
    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.workspace import Workspace

    project = Project.find()
    files = project.scenario_files(path)
    _, problems = Workspace(project).validate_all(files)
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"{_counted(len(files), 'file')}, {_counted(len(problems), 'problem')}")
        ctx.exit(ExitCode.USAGE)
    click.echo(f"{_counted(len(files), 'scenario')} {'is' if len(files) == 1 else 'are'} valid.")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
