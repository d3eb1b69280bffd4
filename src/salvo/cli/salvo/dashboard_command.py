"""The body of `salvo dashboard`."""

from __future__ import annotations

import click

from salvo.cli import server
from salvo.cli.serve_options import ServeOptions
from salvo.scenarios.spec.project import Project

HOME = "/scenarios"


def dashboard(options: ServeOptions) -> None:
    server.check(options)
    store = Project.find().store
    empty = "" if (store / "batches").is_dir() else ", where nothing is stored yet: `salvo run` makes some"
    click.echo(f"Showing the runs in {store}{empty}. To show them, nothing leaves this machine.", err=True)
    server.start(options, HOME)
