"""One request out, one reply back: HTTP, retries, recording and replay, each a wire around a wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from salvo.engine.wire.base import DEFAULT_HTTP

if TYPE_CHECKING:
    from salvo.engine.runtime.clock import Clock
    from salvo.engine.runtime.redact import Redactor
    from salvo.engine.wire.base import Endpoint, HttpOptions
    from salvo.engine.wire.http import HttpWire


def http_wire(
    endpoints: Mapping[str, Endpoint],
    redactor: Redactor,
    clock: Clock,
    options: HttpOptions = DEFAULT_HTTP,
) -> HttpWire:
    """Return a wire that sends requests over HTTP, for commands that do not always need one."""
    from salvo.engine.wire.http import HttpWire  # aiohttp is slow to import

    return HttpWire(endpoints, redactor, clock, options)
