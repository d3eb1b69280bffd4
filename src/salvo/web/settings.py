"""How the server was started."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.errors import UsageError

STATIC = Path(__file__).parent / "static"
"""Where the built page is: made by the build, not kept in git."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str
    project: Path = Path()
    """The root of the project whose stored runs of scenarios are shown."""
    home: str = "/"
    """Where whoever shows the token is led."""
    hosts: tuple[str, ...] = LOOPBACK
    """Names under which the server may be addressed: with the port it listens on, or exactly as given with another."""
    base_urls: tuple[str, ...] = ()
    """The only addresses beside the providers' own that a text may be sent to."""
    token: str | None = field(default=None, repr=False)
    """What a visitor must show; None on loopback, where there are no visitors."""
    at_once: int = 4
    """Evaluations under way at the same time; the others wait in line."""
    static: Path = STATIC
    clock: Clock = field(default_factory=SystemClock)

    def admits(self, shown: str) -> bool:
        return self.token is not None and hmac.compare_digest(shown.encode(), self.token.encode())

    def base_url(self, asked: str | None) -> str | None:
        """The address as it was allowed at the start; UsageError where it was not."""
        if asked is None:
            return None
        for allowed in self.base_urls:
            if asked.rstrip("/") == allowed.rstrip("/"):
                return allowed
        raise UsageError(
            "This server does not send texts to that address.",
            hint="Start it with --allow-base-url and the address to allow it.",
        )
