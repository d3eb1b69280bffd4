"""The server that both products show their page with: its options, and how it is started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

PORT = 8642
Command = TypeVar("Command", bound=Callable[..., Any])


class ServeOptions(NamedTuple):
    """What was asked for on the command line."""

    host: str
    port: int
    no_open: bool
    base_urls: tuple[str, ...]
    hosts: tuple[str, ...]


def options(command: Command) -> Command:
    """The options of a command that serves; it takes them as they are named in Served."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one."),
    click.option("--no-open", is_flag=True, help="Do not open the browser."),
    click.option(
        "--allow-base-url",
        "base_urls",
        multiple=True,
        metavar="URL",
        help="Let the page send texts to this server as well, compatible with a provider's. "
        "May be given several times.",
    ),
    click.option(
        "--allow-host",
        "hosts",
        multiple=True,
        metavar="NAME[:PORT]",
        help="Another name that the server is addressed by, as behind a proxy. May be given several times.",
    ),
)


def check(asked: ServeOptions) -> None:
    from salvo.errors import UsageError

    if any("@" in url for url in asked.base_urls):
        raise UsageError(
            "An address that is allowed is shown on the page, so it cannot hold a password.",
            hint="Leave out what stands before the @; a key is given on the page.",
        )


def start(asked: ServeOptions, home: str = "/") -> None:
    """Serves this folder until it is stopped, and opens the page at `home`."""
    import os
    import webbrowser
    from pathlib import Path

    from salvo.playbooks.store.location import database_url
    from salvo.scenarios.spec.project import Project
    from salvo.web import static_files
    from salvo.web.app import create_app
    from salvo.web.server import serve
    from salvo.web.settings import LOOPBACK, Settings, is_loopback

    alone = is_loopback(asked.host)
    settings = Settings(
        database_url(os.environ, Path.cwd()),
        project=Project.find().root,
        home=home,
        hosts=(*LOOPBACK, *(() if alone else (asked.host,)), *asked.hosts),
        base_urls=asked.base_urls,
        token=None if alone else os.urandom(24).hex(),
    )

    def ready(bound: int) -> None:
        named = f"[{asked.host}]" if ":" in asked.host else asked.host
        address = f"http://{named}:{bound}"
        if settings.token is None:
            address += home
        else:
            address += f"/login?token={settings.token}"
            click.echo("Whoever has this address can use the server; it is shown once.", err=True)
        click.echo(address)
        if not static_files.is_built(settings.static):
            click.echo(static_files.MISSING, err=True)
        elif not asked.no_open:
            webbrowser.open(address)

    try:
        serve(create_app(settings), asked.host, asked.port, ready)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
