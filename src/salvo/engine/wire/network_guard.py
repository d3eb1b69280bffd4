"""Watch the connections of this process: refuse them all during a replay, and notice those that bypass the wire."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from salvo.errors import TapeMissError

_NETWORK_EVENTS = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
)
_state = {"blocks": 0, "hooks": 0}
_addresses: ContextVar[set[str] | None] = ContextVar("salvo_addresses", default=None)


@contextmanager
def offline() -> Iterator[None]:
    """Make every connection attempt in this process raise TapeMissError, in all threads."""
    _add_hook()
    _state["blocks"] += 1
    try:
        yield
    finally:
        _state["blocks"] -= 1


@contextmanager
def observed_connections() -> Iterator[set[str]]:
    """Yield a set that gets the address of every connection that the code in this context opens."""
    _add_hook()
    addresses: set[str] = set()
    token = _addresses.set(addresses)
    try:
        yield addresses
    finally:
        _addresses.reset(token)


def unobserved() -> AbstractContextManager[None]:
    """Leave the connections of the block out: a replay does not need them."""
    return _NOTHING if _addresses.get() is None else _unobserved()


@contextmanager
def _unobserved() -> Iterator[None]:
    token = _addresses.set(None)
    try:
        yield
    finally:
        _addresses.reset(token)


_NOTHING = nullcontext()


def _add_hook() -> None:
    if not _state["hooks"]:
        sys.addaudithook(_hook)  # an audit hook cannot be removed, so it is added once and checks the state
        _state["hooks"] = 1


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _NETWORK_EVENTS:
        return
    if _state["blocks"]:
        raise TapeMissError(
            "The code under test tried to use the network, which is blocked during a replay.",
            hint="Send requests through the wire of the RunContext: those are recorded and replayed.",
        )
    if event == "socket.connect" and (addresses := _addresses.get()) is not None:
        _, address = arguments
        addresses.add(f"{address[0]}:{address[1]}" if isinstance(address, tuple) else str(address))
