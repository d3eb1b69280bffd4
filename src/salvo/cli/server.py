"""Start the server of the page, with the options of `salvo dashboard` and `byop serve`."""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import click

from salvo.cli import server_log
from salvo.cli.login_file import RedirectFile, load_token
from salvo.cli.options import Command, option_set
from salvo.cli.output import echo
from salvo.cli.param_types import FILE_PATH
from salvo.engine.chat import catalog
from salvo.engine.runtime.clock import Clock
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire.addresses import host_name, split_origin
from salvo.errors import UsageError
from salvo.playbooks.audit.head_key import read_head_key
from salvo.playbooks.store.location import database_url
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import STORE_VARIABLE
from salvo.web import network, static_files
from salvo.web.app import create_app, serve, serve_socket
from salvo.web.oidc import check_installed
from salvo.web.oidc.settings import CALLBACK_PAGE, OidcSettings
from salvo.web.sessions import AccessControl
from salvo.web.settings import DEFAULT_PORT, LOOPBACK, Settings, is_loopback


def _refuse_passwords(_ctx: click.Context, _param: click.Parameter, urls: tuple[str, ...]) -> tuple[str, ...]:
    if any("@" in url for url in urls):
        raise UsageError(
            "The page shows the allowed addresses, so they cannot contain a password.",
            hint="Leave out what is before the @; enter a key on the page.",
        )
    return urls


def _configure_log(_ctx: click.Context, _param: click.Parameter, log_format: str) -> None:
    server_log.configure(log_format)


def _evaluations_option(name: str, numbers: click.IntRange, default: int, text: str) -> Callable[[Command], Command]:
    return click.option(name, type=numbers, default=default, show_default=True, metavar="N", help=text)


options = option_set(
    click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 takes a free one."
    ),
    click.option(
        "--unix-socket",
        type=FILE_PATH,
        metavar="PATH",
        help="Listen on a socket in the file system that only you can use, instead of --host and --port.",
    ),
    click.option(
        "--token-file",
        type=FILE_PATH,
        metavar="FILE",
        help="Let programs in that send the token in this file as a bearer token. It is created, readable by you only, "
        "if it does not exist. The environment variable SALVO_TOKEN gives a token instead.",
    ),
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
    _evaluations_option(
        "--concurrency",
        click.IntRange(1, 256),
        default=4,
        text="Evaluations that this server runs at the same time. The others wait; browsers take turns.",
    ),
    _evaluations_option(
        "--queue-length",
        click.IntRange(0, 1_000_000),
        default=200,
        text="Evaluations that may wait, on all servers that use the database. Others are refused.",
    ),
    click.option(
        "--keys-from-env",
        is_flag=True,
        help="Let everybody who is logged in use the providers' keys of this server's environment. Evaluations with "
        "them continue by themselves when a server was stopped or killed.",
    ),
    click.option(
        "--log-format",
        type=click.Choice(server_log.FORMATS),
        default="text",
        show_default=True,
        is_eager=True,
        expose_value=False,
        callback=_configure_log,
        help="With json, stderr has one JSON object per request, evaluation and warning, without texts and keys. "
        "Addresses that log in are on stdout only.",
    ),
)


class Login:
    """Gives out the addresses that log a browser in: on the terminal, and in a file for the browser that is opened."""

    def __init__(self, access: AccessControl, clock: Clock, addresses: Sequence[str]) -> None:
        self._access = access
        self._clock = clock
        self._addresses = addresses
        self._files: list[RedirectFile] = []
        self._is_closed = False

    def print_address(self) -> None:
        code = self._access.codes.issue(self._print_next)
        first, *others = (f"{address}/login?code={code}" for address in self._addresses)
        echo(first)
        for other in others:
            echo(f"or {other}", err=not server_log.is_json())

    def _print_next(self) -> None:
        if self._is_closed:
            return
        with suppress(OSError):  # nobody reads the terminal any more, which must not fail the request
            server_log.notice("That address is used up or has expired. This one opens another browser:")
            self.print_address()

    def open_browser(self) -> None:
        """Open a browser in a thread, because `webbrowser` waits for browsers that run in the terminal."""
        file = RedirectFile(self._clock)
        self._files.append(file)
        file.write(f"{self._addresses[0]}/login?code={self._access.codes.issue(file.remove)}")
        threading.Thread(target=webbrowser.open, args=(file.path.as_uri(),), daemon=True).start()

    def close(self) -> None:
        self._is_closed = True
        for file in self._files:
            file.remove()


def start(
    host: str,
    port: int,
    unix_socket: Path | None,
    token_file: Path | None,
    no_open: bool,
    base_urls: tuple[str, ...],
    hosts: tuple[str, ...],
    concurrency: int,
    queue_length: int,
    keys_from_env: bool,
    home: str = "/",
    store_address: str | None = None,
    oidc: OidcSettings | None = None,
) -> None:
    """Serve this folder until it is stopped, and open the page at `home`."""
    read_head_key(os.environ, Path.home())  # report an unusable key before anything is evaluated
    shared_hosts = _reachable_hosts(host) if unix_socket is None else []
    own_hosts = shared_hosts or [_url_host(host)]
    settings = Settings(
        database_url(os.environ, Path.cwd()),
        project=Project.find().root,
        store_address=store_address or os.environ.get(STORE_VARIABLE) or None,
        home=home,
        hosts=(*LOOPBACK, *own_hosts, *hosts),
        base_urls=base_urls,
        token=load_token(token_file, os.environ.pop("SALVO_TOKEN", None)),
        environ=_provider_environment() if keys_from_env else {},
        max_evaluations=concurrency,
        max_queued=queue_length,
        oidc=oidc,
    )
    if oidc is not None:
        check_installed()
        _check_redirect(oidc.redirect_url, settings.hosts)
        server_log.notice(_oidc_notice(oidc))
    access = AccessControl(settings.clock, settings.token)
    with ExitStack() as cleanup:

        def ready(actual_port: int | None) -> None:
            if unix_socket is not None:
                tunnel = port or DEFAULT_PORT
                server_log.notice(
                    f"Listening on {printable(str(unix_socket))}, for this user only. A browser needs a port that "
                    f"leads to it, here or on another machine: ssh -L {tunnel}:"
                    f"{printable(str(unix_socket.absolute()))} HOST"
                )
                login = Login(access, settings.clock, [f"http://localhost:{tunnel}"])
            else:
                login = Login(access, settings.clock, [f"http://{name}:{actual_port}" for name in own_hosts])
            cleanup.callback(login.close)
            if shared_hosts:
                server_log.notice(_SHARED)
            login.print_address()
            if not static_files.is_built(settings.static):
                server_log.notice(static_files.MISSING)
            elif not no_open and unix_socket is None:
                login.open_browser()

        app = create_app(settings, access, on_shutdown=cleanup.close)
        try:
            if unix_socket is not None:
                serve_socket(app, unix_socket, ready)
            else:
                serve(app, host, port, ready)
        except KeyboardInterrupt:
            server_log.notice("Stopped.")


def _provider_environment() -> dict[str, str]:
    """Return the providers' keys and addresses in the environment, by their variables. UsageError without a key."""
    providers = catalog.providers().values()
    keys = [provider.key_variable for provider in providers if os.environ.get(provider.key_variable)]
    if not keys:
        raise UsageError(
            "--keys-from-env finds no key in the environment.",
            hint=f"Set {' or '.join(provider.key_variable for provider in providers)}, or leave out the option.",
        )
    server_log.notice(f"Everybody who is logged in can use {pluralize(len(keys), 'key')}: {' and '.join(keys)}.")
    addresses = [provider.base_url_variable for provider in providers]
    return {name: os.environ[name] for name in (*keys, *addresses) if os.environ.get(name)}


def _check_redirect(url: str | None, hosts: Sequence[str]) -> None:
    """Raise UsageError if the server would refuse the browsers that the OIDC provider sends back."""
    if url is None:
        return
    address = split_origin(url)[0].partition("://")[2]
    if not {address.lower(), host_name(url)} & {host.lower() for host in hosts}:
        raise UsageError(
            f"--oidc-redirect-url leads to {printable(address)}, which is not a name of this server.",
            hint=f"Add --allow-host {printable(address)}",
        )


def _oidc_notice(oidc: OidcSettings) -> str:
    address = oidc.redirect_url or f"the address of this server with {CALLBACK_PAGE}"
    return f"People can log in with {printable(oidc.label)}, which sends browsers back to {printable(address)}."


_SHARED = (
    "Every machine that can reach this one can open these addresses. Whoever opens one first can read, change and "
    "delete everything here. The connection is not encrypted: others on the network may read the address and the "
    "texts. Prefer an SSH tunnel, or a proxy with TLS."
)


def _reachable_hosts(host: str) -> list[str]:
    """Return the names in the addresses of a server that other machines can reach; none on loopback."""
    if is_loopback(host):
        return []
    if not network.is_wildcard(host):
        return [_url_host(host)]
    return [_url_host(address) for address in network.own_addresses()] or ["127.0.0.1"]


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
