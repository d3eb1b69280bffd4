"""`byop validate`: check a playbook file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.engine.runtime.files import read_up_to
from salvo.engine.text.terminal import Paint
from salvo.playbooks.playbook.document import LARGEST, PlaybookProblem
from salvo.playbooks.playbook.validate import examine


@click.command
@click.argument("file", type=FILE_PATH)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate(file: Path, as_json: bool) -> None:
    """Check a playbook file, without calling a model.

    Every problem is listed with its JSON path. A playbook with an error cannot be used, and the command exits with 2. A
    warning is about something that the specification asks for, or that is probably a mistake.
    """
    _, problems = examine(read_up_to(file, LARGEST))
    errors = [problem for problem in problems if problem.level == "error"]
    warnings = [problem for problem in problems if problem.level == "warning"]
    if as_json:
        result = {"file": str(file), "valid": not errors, "errors": _plain(errors), "warnings": _plain(warnings)}
        echo_json(json.dumps(result, indent=2))
    else:
        _show(file, errors, warnings)
    if errors:
        raise SystemExit(ExitCode.USAGE)


def _plain(problems: list[PlaybookProblem]) -> list[dict[str, str]]:
    return [{"path": problem.path, "message": problem.message} for problem in problems]


def _show(file: Path, errors: list[PlaybookProblem], warnings: list[PlaybookProblem]) -> None:
    paint = Paint(True)
    for problem in errors:
        echo(f"{paint('error', 'red')}    {problem}")
    for problem in warnings:
        echo(f"{paint('warning', 'yellow')}  {problem}")
    result = "cannot be used" if errors else "is a valid playbook"
    counts = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
    echo(f"{file} {result}: {counts}.")


def _count(problems: list[PlaybookProblem], noun: str) -> str:
    return f"{len(problems) or 'no'} {noun}{'' if len(problems) == 1 else 's'}"
