"""What a server says of itself. A module of its own, because every recording can hold it and few do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The name and version of a server, the protocol, and its tools as it lists them."""

    name: str
    version: str
    protocol: str
    tools: list[dict[str, Any]]
    instructions: str = ""
