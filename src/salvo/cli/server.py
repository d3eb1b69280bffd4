"""Start the server of the page, with the options of `salvo dashboard` and `byop serve`."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from salvo.cli.output import echo
from salvo.errors import UsageError
from salvo.playbooks.audit.head_key import read_head_key
from salvo.playbooks.store.location import database_url
from salvo.scenarios.spec.project import Project
from salvo.web import static_files
from salvo.web.app import create_app, serve
from salvo.web.settings import LOOPBACK, Settings, is_loopback

Command = TypeVar("Command", bound=Callable[..., Any])


def options(command: Command) -> Command:
    """Add the options to a command. It passes them on to `start`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _refuse_passwords(_ctx: click.Context, _param: click.Parameter, urls: tuple[str, ...]) -> tuple[str, ...]:
    if any("@" in url for url in urls):
        raise UsageError(
            "The page shows the allowed addresses, so they cannot contain a password.",
            hint="Leave out what is before the @; enter a key on the page.",
        )
    return urls


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="0 takes a free one."),
    click.option("--no-open", is_flag=True, help="Do not open the browser."),
    click.option(
        "--allow-base-url",
        "base_urls",
        multiple=True,
        callback=_refuse_passwords,
        metavar="URL",
        help="Let the page send texts to this server as well, compatible with a provider's. Can be repeated.",
    ),
    click.option(
        "--allow-host",
        "hosts",
        multiple=True,
        metavar="NAME[:PORT]",
        help="Another name of the server, such as behind a proxy. Can be repeated.",
    ),
)


def start(
    host: str, port: int, no_open: bool, base_urls: tuple[str, ...], hosts: tuple[str, ...], home: str = "/"
) -> None:
    """Serve this folder until it is stopped, and open the page at `home`."""
    local = is_loopback(host)
    read_head_key(os.environ, Path.home())  # report an unusable key before anything is evaluated
    settings = Settings(
        database_url(os.environ, Path.cwd()),
        project=Project.find().root,
        home=home,
        hosts=(*LOOPBACK, *(() if local else (host,)), *hosts),
        base_urls=base_urls,
        token=None if local else os.urandom(24).hex(),
    )

    def ready(actual_port: int) -> None:
        address = f"http://{f'[{host}]' if ':' in host else host}:{actual_port}"
        if settings.token is None:
            address += home
        else:
            address += f"/login?token={settings.token}"
            echo("Anyone with this address can use the server. It is shown only once.", err=True)
        echo(address)
        if not static_files.is_built(settings.static):
            echo(static_files.MISSING, err=True)
        elif not no_open:
            webbrowser.open(address)

    try:
        serve(create_app(settings), host, port, ready)
    except KeyboardInterrupt:
        echo("Stopped.", err=True)
