"""What a server says of itself. A module of its own, because every recording can hold it and few do."""

from __future__ import annotations

from typing import Any

from salvo.records import record


@record
class ServerListing:
    """The name and version of a server, the protocol, and its tools as it lists them."""

    name: str
    version: str
    protocol: str
    tools: list[dict[str, Any]]
    instructions: str = ""
