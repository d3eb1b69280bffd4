"""Connections that make no progress are closed, and there is a limit on how many are open.

uvicorn closes idle connections itself. It has no time limit for headers, bodies and readers, and its limit on
connections would lock everybody out as soon as somebody opens many and sends nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock
from salvo.playbooks.store.records import ErrorDetail
from salvo.records import record
from salvo.web import network
from salvo.web.responses import ErrorResponse


@record
class ConnectionLimits:
    header_seconds: float = 10
    """From the connection, or the first byte of a later request, to the end of the headers."""
    body_seconds: float = 20
    """For a body, in addition to the time that it takes at `bytes_per_second`."""
    write_seconds: float = 30
    """For a client to read at least `bytes_per_second` of the response."""
    bytes_per_second: int = 1024
    """The slowest client that is served."""
    keep_alive_seconds: int = 5
    """For the next request on a connection."""
    connections: int = 256
    """Open at the same time. Above that, the one that has waited longest for a request is closed, if there is one."""
    refused_connections: int = 64
    """Further connections that are answered with 503. Above that they are closed without an answer."""


class LimitedProtocol(H11Protocol):
    """A connection that knows what it waits for and since when."""

    limits: ConnectionLimits
    clock: Clock
    """Set by the subclass that `limited_protocol` returns, because uvicorn creates the instances."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting_since: float | None = None
        """When the wait for the headers of a request began; None while none is expected."""
        self._body_since = 0.0
        self._body_bytes = 0
        self._unsent = 0
        self._unsent_since: float | None = None
        self._refused = False
        self._had_request = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._waiting_since = self.clock.monotonic()
        others = [other for other in self.connections if isinstance(other, LimitedProtocol) and other is not self]
        excess = len(others) + 1 - self.limits.connections
        if excess <= 0:
            return
        idle = min(
            (other for other in others if other.has_no_request), key=LimitedProtocol.waiting_time_key, default=None
        )
        if idle is not None:
            idle.transport.abort()
        elif excess > self.limits.refused_connections:
            self.transport.abort()
        else:
            self._refused = True
            self._answer(
                503,
                ErrorDetail(
                    "too_many_connections",
                    f"The server has {self.limits.connections} open connections, and accepts no more.",
                    "Close pages or programs that use it, and try again.",
                ),
            )

    @property
    def has_no_request(self) -> bool:
        """Whether no request is being answered on this connection."""
        is_open = not self._refused and not self.transport.is_closing()
        return is_open and not self._is_answering

    @property
    def _is_answering(self) -> bool:
        return self._had_request and not self.cycle.response_complete

    def waiting_time_key(self) -> float:
        return self._waiting_since if self._waiting_since is not None else float("inf")

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        now = self.clock.monotonic()
        if self.timeout_keep_alive_task is not None and self._waiting_since is not None:
            self._waiting_since = now  # the first byte of the next request
        previous = self.cycle
        super().data_received(data)
        if self.cycle is not previous:
            self._had_request = True
            self._body_since, self._body_bytes = now, 0
        self._body_bytes += len(data)
        self._note_wait(now)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_wait(self.clock.monotonic())

    def _note_wait(self, now: float) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now

    def close_if_too_slow(self) -> None:
        """Called again and again while the connection is open."""
        now = self.clock.monotonic()
        limits = self.limits
        if self._stopped_reading(now):
            network.reset(self.transport)
        elif self.transport.is_closing():
            return
        elif self._refused:
            self.transport.close()
        elif self._waiting_since is not None and self.timeout_keep_alive_task is None:
            if now - self._waiting_since > limits.header_seconds:
                self._time_out("headers", f"{limits.header_seconds:g} seconds")
        elif self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            allowed = limits.body_seconds
            if self._is_answering:
                allowed += self._body_bytes / limits.bytes_per_second
            if now - self._body_since > allowed:
                self._time_out("body", f"{limits.body_seconds:g} seconds, plus one per {limits.bytes_per_second} bytes")

    def _stopped_reading(self, now: float) -> bool:
        unsent = self.transport.get_write_buffer_size()
        limits = self.limits
        if unsent == 0:
            self._unsent_since = None
        elif self._unsent_since is None:
            self._unsent, self._unsent_since = unsent, now
        elif now - self._unsent_since > limits.write_seconds:
            if unsent > self._unsent - limits.write_seconds * limits.bytes_per_second:
                return True
            self._unsent, self._unsent_since = unsent, now
        return False

    def _time_out(self, part: str, limit: str) -> None:
        if self._is_answering:
            if self.cycle.response_started:
                self.transport.abort()
                return
            self.cycle.disconnected = True  # what the application answers now goes nowhere
            self.cycle.message_event.set()
        elif self.conn.their_state is h11.SEND_BODY:
            self.transport.close()  # it was answered before
            return
        self._answer(
            408,
            ErrorDetail(
                "too_slow",
                f"The {part} of the request did not arrive in time (limit: {limit}).",
                "Send the request again, over a faster connection.",
            ),
        )
        self.transport.close()

    def _answer(self, status: int, error: ErrorDetail) -> None:
        body = json_codec.dumps(ErrorResponse(error))
        phrase = {408: "Request Timeout", 503: "Service Unavailable"}[status]
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"retry-after: 10\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)


def limited_protocol(limits: ConnectionLimits, clock: Clock) -> type[LimitedProtocol]:
    return type("ServerProtocol", (LimitedProtocol,), {"limits": limits, "clock": clock})


def close_slow(connections: Iterable[object]) -> None:
    for connection in list(connections):
        if isinstance(connection, LimitedProtocol):
            connection.close_if_too_slow()
