"""`salvo dashboard`: the stored runs on a page."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli import serve_options

HOME = "/scenarios"


@click.command
@serve_options.options
def dashboard(**asked: Any) -> None:
    """Show the stored runs on a page: batches over time, comparisons, and each run step by step.

    It is the page that `byop serve` serves, opened at the scenarios of this folder, for this machine alone. Runs that
    are made while it is open appear by themselves. To show them, nothing is sent to anyone. With --host and another
    address than a loopback one, a token is needed, which is printed once. Stop it with Ctrl-C.
    """
    from salvo.scenarios.spec.project import Project

    served = serve_options.ServeOptions(**asked)
    serve_options.check(served)
    store = Project.find().store
    nothing = "" if (store / "batches").is_dir() else ", where nothing is stored yet: `salvo run` makes some"
    click.echo(f"Showing the runs in {store}{nothing}. To show them, nothing leaves this machine.", err=True)
    serve_options.start(served, HOME)
