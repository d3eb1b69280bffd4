"""The options of the commands that print results and write them to files: the suffix of a name chooses the format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from salvo.cli.param_types import FILE_PATH

Command = TypeVar("Command", bound=Callable[..., Any])

ALL_SUFFIXES = ".json, .jsonl, .xml (JUnit), .md or .html"


def output_option(suffixes: str = ALL_SUFFIXES) -> Callable[[Command], Command]:
    """Return a decorator that adds the option, for files with these suffixes."""
    return click.option(
        "-o", "--output", "outputs", multiple=True, type=FILE_PATH, help=f"Also write a file: {suffixes}."
    )


def result_options(command: Command) -> Command:
    """Add what `salvo run` and the commands that complete its batches have: files, JSON, and how much is printed."""
    options = (
        output_option(),
        click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr."),
        click.option("-q", "--quiet", is_flag=True, help="Print the closing summary only."),
        click.option(
            "-v", "--verbose", is_flag=True, help="Print the table of every scenario, also if there are many."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
