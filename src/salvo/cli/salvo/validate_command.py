"""The body of `salvo validate`."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.engine.text.formatting import pluralize
from salvo.scenarios.spec.project import Project
from salvo.scenarios.workspace import Workspace


def validate(path: Path | None) -> None:
    project = Project.find()
    files = project.scenario_files(path)
    _, problems = Workspace(project).validate_all(files)
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"{pluralize(len(files), 'file')}, {pluralize(len(problems), 'problem')}")
        raise SystemExit(ExitCode.USAGE)
    click.echo(f"{pluralize(len(files), 'scenario')} {'is' if len(files) == 1 else 'are'} valid.")
