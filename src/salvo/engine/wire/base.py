"""The wire's types: one request out, one reply back.

A WireRequest names its endpoint, and HttpWire adds the credential when it sends. So no request object, recording, error
or log can contain a key, and a replay needs none.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.records import record

Sink: TypeAlias = Callable[[bytes, Mapping[str, str]], Awaitable[None]]
"""Gets a piece of a reply, and the headers of the reply."""

BATCH_HEADER = "x-salvo-batch"
"""Marks a reply that came through a provider's batch API, with the id of the batch. HttpWire never keeps it of a reply,
so no server can set it; a recording has it, because the price of the reply depends on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Streaming:
    """Where the pieces of a streamed reply go as they arrive. The end of the stream is left in `tail`."""

    sink: Sink
    options: Mapping[str, Any] = field(default_factory=dict)
    """The `stream_options` of the request."""
    tail: list[bytes] = field(default_factory=list)


@record
class Timeouts:
    """Limits of one try of a call, in seconds: to connect, without any data, and for all of it."""

    connect: float = 10.0
    read: float = 300.0
    total: float = 600.0


@record
class HttpOptions:
    timeouts: Timeouts = Timeouts()
    max_reply_bytes: int = 64 * 1024 * 1024
    also_keep: tuple[str, ...] = ()
    """Headers of replies that are kept, besides the usual ones."""


DEFAULT_HTTP = HttpOptions()


@record
class WireRequest:
    """A request. The lane says who sends it; callers choose it, and it must not depend on timing.

    The body is a JSON value, or bytes that are sent as they are.
    """

    endpoint: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    lane: str = ""
    method: str = "POST"
    timeouts: Timeouts | None = None
    """None: those of the wire."""
    streaming: Streaming | None = None
    """If it is set, the reply may be streamed; the wire still returns the whole reply."""
    as_sent: Callable[[Any], Any] | None = None
    """Returns the body as it is sent: with what does not reach the model, such as marks for a provider's cache. It is
    applied at the socket, so that no recording has it and no matching depends on it."""


@record
class Attempt:
    """A try that failed before the final one: how, how long it took, and how long we waited after it."""

    status: int | None
    problem: str
    seconds: float
    waited: float


@dataclass(slots=True)
class CallSpan:
    """When a call of a run was made and when it was answered, each as the number of calls that were made before."""

    made: int
    answered: int | None = None


@record
class WireReply:
    """A reply with any status. `seconds` is the duration of the final try, without waits."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    from_cache: bool = False
    span: CallSpan | None = None
    """When it was requested and answered, in a recorded run and its replay."""

    @property
    def request_id(self) -> str | None:
        return self.headers.get("request-id") or self.headers.get("x-request-id")

    def json(self) -> Any:
        """Return the parsed body. Raises ValueError where it is not JSON."""
        return json_codec.loads(self.body, nan=True)


class Wire(Protocol):
    async def send(self, request: WireRequest) -> WireReply:
        """Send one request. Raises WireError where no reply came back."""
        ...


@record
class Endpoint:
    """The address behind an endpoint's name, and its key. The key is not in the repr."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    key_variable: str = ""
    """Where set, a key is required, and this is the environment variable for it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers of every request. They may hold a credential, so they are added when a request is sent."""

    @property
    def host(self) -> str:
        """The host, for messages; the whole URL may contain a user and a password."""
        return urllib.parse.urlsplit(self.base_url).hostname or "an address without a host"

    @property
    def place(self) -> str:
        """The host, with its port where the address names one."""
        try:
            port = urllib.parse.urlsplit(self.base_url).port
        except ValueError:
            return self.host
        return self.host if port is None else f"{self.host}:{port}"


@record
class RecordingOptions:
    """Limits that keep recordings small or private. A replay needs the content of replies, but not of requests."""

    max_request_bytes: int = 256 * 1024
    max_reply_bytes: int = 5 * 1024 * 1024
    hashes_only: bool = False
