"""The option -o of the commands that write results to files: the suffix of a name chooses the format."""

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
