"""`byop serve`: the web page and its API."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli import serve_options


@click.command
@serve_options.options
def serve(**options: Any) -> None:
    """Serve the web page and its API, on this machine only.

    Evaluations are stored where the other commands store them. Scenario runs that are stored in this folder are shown
    as well. Keys are entered on the page, for one evaluation each; none is read from the environment. If --host is not
    a loopback address, clients need a token, which is printed once. Stop the server with Ctrl-C: the votes so far are
    stored, and the evaluations can be resumed.
    """
    from salvo.cli.byop import serve_command

    serve_command.serve(serve_options.ServeOptions(**options))
