"""`salvo validate`: list every problem of every scenario file."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.destinations import destination_lines
from salvo.scenarios.spec.project import Project
from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@allow_env_option
def validate(path: Path | None, allow_env: tuple[str, ...]) -> None:
    """Check scenario files, without any call.

    PATH is a scenario file or a folder of them; without one it is scenarios/, or else the current folder. Every
    problem of every file is listed with its line and column, and the command exits with 2 if there are any. The
    Python code that a scenario names is imported. Where calls would go is printed, with the names of the variables.
    """
    project = Project.find()
    files = project.scenario_files(path)
    workspace = Workspace(project, allow_env=frozenset(allow_env))
    scenarios, problems = workspace.validate_all(files)
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"{pluralize(len(files), 'file')}, {pluralize(len(problems), 'problem')}")
        raise SystemExit(ExitCode.USAGE)
    click.echo(f"{pluralize(len(files), 'scenario')} {'is' if len(files) == 1 else 'are'} valid.")
    for line in destination_lines(workspace, [scenario for _, scenario in scenarios]):
        click.echo(line)
