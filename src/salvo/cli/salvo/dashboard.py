"""`salvo dashboard`: the stored runs on a page."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli import server, server_log
from salvo.cli.salvo.store_option import store_option
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store


@click.command
@store_option
@server.options
def dashboard(store_address: str | None, **options: Any) -> None:
    """Show the stored runs on a page: batches over time, comparisons, and each run step by step.

    This is the page of `byop serve`, opened at the scenarios of this folder. Only this machine can reach it, and new
    runs appear by themselves. Showing runs sends nothing to anyone. The browser is opened logged in. The address that
    is printed logs in one other browser; a new one is printed when it was used. Programs need --token-file. Stop the
    server with Ctrl-C.
    """
    store = open_store(Project.find(store_address=store_address))
    empty = "" if store.newest_batches(1) else ", where nothing is stored yet: `salvo run` makes some"
    if store.is_shared:
        what = "They are read from there; nothing else leaves this machine."
    else:
        what = "To show them, nothing leaves this machine."
    server_log.notice(f"Showing the runs in {printable(store.address)}{empty}. {what}")
    server.start(**options, home="/scenarios", store_address=store_address)
