"""The settings that the server was started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address
from pathlib import Path

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.wire.addresses import without_version
from salvo.errors import UsageError
from salvo.records import record
from salvo.web.oidc.settings import OidcSettings

STATIC = Path(__file__).parent / "static"
"""The built page. `make serve` and the package build create it; it is not in git."""

DEFAULT_PORT = 8642
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@record
class Settings:
    database_url: str
    project: Path = Path()
    """The project whose stored scenario runs are shown."""
    store_address: str | None = None
    """Where these runs are stored, if not in the project."""
    home: str = "/"
    """The address that a successful login redirects to."""
    hosts: tuple[str, ...] = LOOPBACK
    """Accepted Host headers: each name with the server's port, and names other than loopback also exactly as given.

    On a Unix socket, loopback names are accepted with any port: it is the port of a tunnel.
    """
    base_urls: tuple[str, ...] = ()
    """The only addresses, apart from the providers' own, that texts may be sent to."""
    token: str | None = field(default=None, repr=False)
    """What a program sends as a bearer token; with None, only browsers can log in."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The providers' keys that the server lends to everybody who is logged in, and the addresses for them, by their
    variables."""
    max_evaluations: int = 4
    """Evaluations that run at the same time; the others are queued."""
    max_queued: int = 200
    """Evaluations that wait, on all servers that use the database."""
    oidc: OidcSettings | None = None
    """The provider with which people log in; None: only with passwords, or the addresses that are printed."""
    static: Path = STATIC
    clock: Clock = field(default_factory=SystemClock)

    def allowed_base_url(self, base_url: str | None) -> str | None:
        """Return the address as it was allowed at start-up, or raise UsageError."""
        if base_url is None:
            return None
        for allowed in self.base_urls:
            if without_version(base_url) == without_version(allowed):
                return allowed
        raise UsageError(
            "This server does not send texts to that address.",
            hint="To allow the address, start the server with --allow-base-url.",
        )
