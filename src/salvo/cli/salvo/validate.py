"""`salvo validate`: list every problem of every scenario file."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.engine.jsonio import json_codec
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.code_references import CodeReference, list_code
from salvo.scenarios.destinations import destination_lines
from salvo.scenarios.spec.project import Project
from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=FILE_PATH)
@click.option("--trust", is_flag=True, help="List the Python code and commands that would run; nothing is imported.")
@click.option("--json", "as_json", is_flag=True, help="With --trust: print JSON.")
@allow_env_option
def validate(paths: tuple[Path, ...], trust: bool, as_json: bool, allow_env: tuple[str, ...]) -> None:
    """Check scenario files, without any call.

    Each PATH is a scenario file or a folder of them; without one it is scenarios/, or else the current folder. Every
    problem of every file is listed with its line and column, and the command exits with 2 if there are any. The
    Python code that a scenario names is imported. A model that Salvo does not know is a warning. Where calls would go
    is printed, with the names of the variables.

    With --trust nothing is imported or started. Instead, what the scenarios name is listed, to be read before a
    stranger's project is run: Python modules (adapters, every tools.py, assertions of your own and of installed
    packages) and commands, each with its place and whether it is inside the project, and the paths of a provider that a
    command may use with your key besides those that ask a model (allow_paths). Modules that these import are not
    followed.
    """
    project = Project.find()
    files = project.scenario_files(paths)
    if as_json and not trust:
        raise click.UsageError("--json goes with --trust.")
    if trust:
        _list_code(project, files, as_json=as_json)
        return
    workspace = Workspace(project, allow_env=frozenset(allow_env))
    scenarios, problems = workspace.validate_all(files)
    for problem in problems:
        echo(problem)
    if problems:
        echo(f"{pluralize(len(files), 'file')}, {pluralize(len(problems), 'problem')}")
        raise SystemExit(ExitCode.USAGE)
    for warning in workspace.model_warnings(scenarios):
        echo(warning._replace(message=f"warning: {warning.message}"))
    cells = sum(scenario.cell is not None for _, scenario in scenarios)
    with_cells = f" with {pluralize(cells, 'cell')}" if cells else ""
    echo(f"{pluralize(len(files), 'scenario')}{with_cells} {'is' if len(files) == 1 else 'are'} valid.")
    for line in destination_lines(workspace, [scenario for _, scenario in scenarios]):
        echo(line)


def _list_code(project: Project, files: list[Path], *, as_json: bool) -> None:
    """Print what the scenarios would run. Exit with 2 if a file has problems: something may be missing."""
    references, problems = list_code(project, files)
    if as_json:
        document = {"scenarios": len(files), "code": references, "problems": [item._asdict() for item in problems]}
        echo_json(json_codec.dumps(document, indent=2))
    else:
        lines = [*map(_describe, references), *map(str, problems)]
        python = len({item.path for item in references if item.kind == "python" and item.path})
        commands = len({item.name for item in references if item.kind == "command"})
        lines.append(
            f"{pluralize(len(files), 'scenario')}: {pluralize(python, 'Python module')}, "
            f"{pluralize(commands, 'command')}. Nothing was imported or started."
        )
        echo("\n".join(map(printable, lines)))
    if problems:
        raise SystemExit(ExitCode.USAGE)


def _describe(reference: CodeReference) -> str:
    place = f"{reference.file}:{reference.line}: {reference.field}"
    if reference.kind == "allowed_path":
        return f"{place}: the command may use the provider's {reference.name} with your key"
    kind = "Python" if reference.kind == "python" else "command"
    if reference.path is None:
        where = "not found"
    else:
        line = f":{reference.path_line}" if reference.path_line else ""
        where = f"{reference.path}{line} ({'in' if reference.in_project else 'outside'} the project)"
    return f"{place}: {kind} {reference.name} -> {where}"
