"""The options of commands that show results and write them to files: the suffix of a name chooses the format."""

from __future__ import annotations

from collections.abc import Callable

import click

from salvo.cli.options import Command, option_set
from salvo.cli.param_types import FILE_PATH


def output_option(help_text: str, *, metavar: str | None = None) -> Callable[[Command], Command]:
    """Return a decorator that adds the option, which may be given several times."""
    return click.option("-o", "--output", "outputs", multiple=True, type=FILE_PATH, metavar=metavar, help=help_text)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr."
)

result_options = option_set(
    output_option("Also write a file: .json, .jsonl, .xml (JUnit), .md or .html."),
    json_option,
    click.option("-q", "--quiet", is_flag=True, help="Print the closing summary only."),
    click.option("-v", "--verbose", is_flag=True, help="Print the table of every scenario, also if there are many."),
)
"""What `salvo run` and the commands that complete its batches have."""
