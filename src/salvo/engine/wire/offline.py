"""Block the network for the whole process during a replay, also for a user's code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from salvo.errors import TapeMissError

_state = {"refusing": 0, "watching": 0}
_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"})


@contextmanager
def offline() -> Iterator[None]:
    """Make every connection attempt in this process raise TapeMissError, in all threads."""
    if not _state["watching"]:
        sys.addaudithook(_refuse)  # an audit hook cannot be removed, so it is added once and checks the state
        _state["watching"] = 1
    _state["refusing"] += 1
    try:
        yield
    finally:
        _state["refusing"] -= 1


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _EVENTS and _state["refusing"]:
        raise TapeMissError(
            "The code under test tried to use the network, which is blocked during a replay.",
            hint="Send requests through the wire of the RunContext: those are recorded and replayed.",
        )
