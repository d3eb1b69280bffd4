"""`byop serve`: the web page and its API."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli import serve_options


@click.command
@serve_options.options
def serve(**options: Any) -> None:
    """Serve the web page and its API, on this machine alone.

    Evaluations are stored where the other commands store them; runs of scenarios that are stored in this folder are
    shown as well. Keys are given on the page, for one evaluation each; none is read from the environment. With --host
    and another address than a loopback one, a token is needed, which is printed once. Stop it with Ctrl-C: what is
    under way is kept, and can be resumed.
    """
    from salvo.cli.byop import serve_command

    serve_command.serve(serve_options.ServeOptions(**options))
