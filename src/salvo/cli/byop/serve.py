"""`byop serve`: the web page and its API."""

from __future__ import annotations

import os
from typing import Any

import click

from salvo.cli import server, server_log
from salvo.cli.byop import oidc_options
from salvo.cli.byop.database import open_store
from salvo.engine.text.unicode_escape import printable


@click.command
@server.options
@oidc_options.options
def serve(**options: Any) -> None:
    """Serve the web page and its API, on this machine only.

    Evaluations are stored where the other commands store them. Scenario runs that are stored in this folder are shown
    as well. Keys are entered on the page, for one evaluation each; without --keys-from-env none is read from the
    environment. The browser is opened logged in. The address that is printed logs in one other browser; a new one is
    printed when it was used. Programs need --token-file. Stop the server with Ctrl-C: the votes so far are stored.
    Evaluations that need no key from the page continue when a server runs again; the others can be resumed. Several
    servers can share one database.
    """
    oidc = oidc_options.take_settings(options, os.environ)
    with open_store(make=True) as store:
        server_log.notice(f"Evaluations are stored in {printable(store.place)}")
    server.start(**options, oidc=oidc)
