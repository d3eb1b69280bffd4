"""Start the server of the page, for `salvo dashboard` and `byop serve`."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import click

from salvo.cli.serve_options import ServeOptions
from salvo.errors import UsageError
from salvo.playbooks.store.location import database_url
from salvo.scenarios.spec.project import Project
from salvo.web import static_files
from salvo.web.app import create_app
from salvo.web.server import serve
from salvo.web.settings import LOOPBACK, Settings, is_loopback


def check(options: ServeOptions) -> None:
    if any("@" in url for url in options.base_urls):
        raise UsageError(
            "The page shows the allowed addresses, so they cannot contain a password.",
            hint="Leave out what is before the @; enter a key on the page.",
        )


def start(options: ServeOptions, home: str = "/") -> None:
    """Serve this folder until it is stopped, and open the page at `home`."""
    local = is_loopback(options.host)
    settings = Settings(
        database_url(os.environ, Path.cwd()),
        project=Project.find().root,
        home=home,
        hosts=(*LOOPBACK, *(() if local else (options.host,)), *options.hosts),
        base_urls=options.base_urls,
        token=None if local else os.urandom(24).hex(),
    )

    def ready(port: int) -> None:
        host = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{host}:{port}"
        if settings.token is None:
            address += home
        else:
            address += f"/login?token={settings.token}"
            click.echo("Anyone with this address can use the server. It is shown only once.", err=True)
        click.echo(address)
        if not static_files.is_built(settings.static):
            click.echo(static_files.MISSING, err=True)
        elif not options.no_open:
            webbrowser.open(address)

    try:
        serve(create_app(settings), options.host, options.port, ready)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
