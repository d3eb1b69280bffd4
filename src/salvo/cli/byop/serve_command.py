"""The body of `byop serve`."""

from __future__ import annotations

import click

from salvo.cli import server
from salvo.cli.byop.database import open_store
from salvo.cli.serve_options import ServeOptions


def serve(options: ServeOptions) -> None:
    server.check(options)
    with open_store(make=True) as store:
        click.echo(f"Evaluations are stored in {store.place}", err=True)
    server.start(options)
