"""No socket at all: while this is on, whoever tries to connect gets an error, also code that is not ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from salvo.errors import TapeMissError

_offline: ContextVar[bool] = ContextVar("offline", default=False)
_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"})


@contextmanager
def offline() -> Iterator[None]:
    """Refuses the network in this task and whatever it starts, threads of asyncio.to_thread included."""
    _watch()
    token = _offline.set(True)
    try:
        yield
    finally:
        _offline.reset(token)


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _EVENTS and _offline.get():
        raise TapeMissError(
            "In a replay nothing may use the network, and the code under test tried to.",
            hint="What it sends through the wire of its RunContext is recorded and replayed.",
        )


_watching = False


def _watch() -> None:
    """Python's audit hooks cannot be taken away again, so one is added once, and asks whether it is meant."""
    global _watching  # noqa: PLW0603 - there is one list of audit hooks in a process, and so one flag
    if not _watching:
        sys.addaudithook(_refuse)
        _watching = True
