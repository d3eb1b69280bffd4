"""`salvo dashboard`: the stored runs on a page."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli import server
from salvo.cli.output import echo
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.spec.project import Project


@click.command
@server.options
def dashboard(**options: Any) -> None:
    """Show the stored runs on a page: batches over time, comparisons, and each run step by step.

    This is the page of `byop serve`, opened at the scenarios of this folder. Only this machine can reach it, and new
    runs appear by themselves. Showing runs sends nothing to anyone. The browser is opened logged in. The address that
    is printed logs in one other browser; a new one is printed when it was used. Programs need --token-file. Stop the
    server with Ctrl-C.
    """
    store = Project.find().store
    empty = "" if (store / "batches").is_dir() else ", where nothing is stored yet: `salvo run` makes some"
    echo(f"Showing the runs in {printable(str(store))}{empty}. To show them, nothing leaves this machine.", err=True)
    server.start(**options, home="/scenarios")
