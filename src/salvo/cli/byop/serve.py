"""`byop serve`: the web page and its API."""

from __future__ import annotations

import click

PORT = 8642


@click.command
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option(
    "--allow-base-url",
    "base_urls",
    multiple=True,
    metavar="URL",
    help="Let the page send texts to this server as well, compatible with a provider's. May be given several times.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME[:PORT]",
    help="Another name that the server is addressed by, as behind a proxy. May be given several times.",
)
def serve(host: str, port: int, no_open: bool, base_urls: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """Serve the web page and its API, on this machine alone.

    Evaluations are stored where the other commands store them. Keys are given on the page, for one evaluation each;
    none is read from the environment. With --host and another address than a loopback one, a token is needed, which is
    printed once. Stop it with Ctrl-C: what is under way is kept, and can be resumed.
    """
    import os
    import webbrowser
    from pathlib import Path

    from salvo.cli.byop.database import open_store
    from salvo.errors import UsageError
    from salvo.playbooks.store.place import database_url
    from salvo.web import page
    from salvo.web.app import create_app
    from salvo.web.server import serve as serve_app
    from salvo.web.settings import LOOPBACK, Settings, is_loopback

    if any("@" in url for url in base_urls):
        raise UsageError(
            "An address that is allowed is shown on the page, so it cannot hold a password.",
            hint="Leave out what stands before the @; a key is given on the page.",
        )
    with open_store(make=True) as store:
        click.echo(f"Evaluations are stored in {store.place}", err=True)
    settings = Settings(
        database_url(os.environ, Path.cwd()),
        hosts=(*LOOPBACK, *(() if is_loopback(host) else (host,)), *hosts),
        base_urls=base_urls,
        token=None if is_loopback(host) else os.urandom(24).hex(),
    )

    def ready(bound: int) -> None:
        named = f"[{host}]" if ":" in host else host
        address = f"http://{named}:{bound}/"
        if settings.token is not None:
            address += f"login?token={settings.token}"
            click.echo("Whoever has this address can use the server; it is shown once.", err=True)
        click.echo(address)
        if not page.is_built(settings.static):
            click.echo(page.MISSING, err=True)
        elif not no_open:
            webbrowser.open(address)

    try:
        serve_app(create_app(settings), host, port, ready)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
