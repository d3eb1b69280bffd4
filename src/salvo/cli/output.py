"""Print text that may come from a model, a file or a recording, so that it cannot steer the terminal."""

from __future__ import annotations

import click

from salvo.engine.text.unicode_escape import printable


def echo(text: object, *, fg: str | None = None, err: bool = False) -> None:
    """Print the text in one colour, with control, escape and invisible characters made visible."""
    click.secho(printable(str(text), multiline=True), fg=fg, err=err)
