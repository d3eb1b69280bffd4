"""No socket at all: while this is on, whoever tries to connect gets an error, also code that is not ours."""

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
    """Refuses the network in the whole process: a user's code may start threads of its own."""
    if not _state["watching"]:
        sys.addaudithook(_refuse)  # cannot be taken away again, so it is added once, and asks whether it is meant
        _state["watching"] = 1
    _state["refusing"] += 1
    try:
        yield
    finally:
        _state["refusing"] -= 1


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _EVENTS and _state["refusing"]:
        raise TapeMissError(
            "In a replay nothing may use the network, and the code under test tried to.",
            hint="What it sends through the wire of its RunContext is recorded and replayed.",
        )
