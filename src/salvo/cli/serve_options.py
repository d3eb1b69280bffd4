"""The options of the commands that serve the page: `salvo dashboard` and `byop serve`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

PORT = 8642
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class ServeOptions:
    host: str
    port: int
    no_open: bool
    base_urls: tuple[str, ...]
    hosts: tuple[str, ...]


def options(command: Command) -> Command:
    """Add the options to a command. It gets them by the names of the fields of ServeOptions."""
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
