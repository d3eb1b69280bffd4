"""StreamingWire: a wire around another wire that passes a streamed reply on as it arrives, and returns it assembled.

So a recording holds the same reply whether it was streamed or not. The end of a stream is held back until the caller
has the whole reply: a program that has seen the end may send its next request at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.wire.base import Streaming, Wire, WireReply, WireRequest
from salvo.engine.wire.stream_assembly import Event, StreamProtocol, stream_error, stream_protocol
from salvo.errors import StreamCutError

EVENT_STREAM = "text/event-stream"
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LONGEST_SEPARATOR = 4
_DONE = b"[DONE]"


class StreamingWire:
    """Sends a request that wants a stream as one, and all others as they are."""

    def __init__(self, inner: Wire) -> None:
        self._inner = inner

    async def send(self, request: WireRequest) -> WireReply:
        streaming, protocol = request.streaming, stream_protocol(request.path)
        if streaming is None or protocol is None or not isinstance(request.body, dict):
            return await self._inner.send(replace(request, streaming=None) if streaming else request)
        reply, relay = await self._send(request, streaming, protocol, with_usage=protocol.reports_usage_on_request)
        if relay.asks_for_usage and reply.status in (400, 422) and b"stream_options" in reply.body:
            # A server that does not know the option. Then the usage stays unknown.
            reply, relay = await self._send(request, streaming, protocol, with_usage=False)
        if reply.status != 200 or not reply.headers.get("content-type", "").startswith(EVENT_STREAM):
            return reply
        headers = {**reply.headers, "content-type": "application/json"}
        return replace(reply, body=relay.assembled(), headers=headers)

    async def _send(
        self, request: WireRequest, streaming: Streaming, protocol: StreamProtocol, *, with_usage: bool
    ) -> tuple[WireReply, _Relay]:
        relay = _Relay(streaming, protocol, asks_for_usage=with_usage)
        options = {**streaming.options, **({"include_usage": True} if with_usage else {})}
        body = {**request.body, "stream": True, **({"stream_options": options} if options else {})}
        headers = {name: value for name, value in request.headers.items() if name.lower() != "accept"}
        try:
            reply = await self._inner.send(
                replace(
                    request, body=body, headers={**headers, "accept": EVENT_STREAM}, streaming=Streaming(relay.feed)
                )
            )
        except StreamCutError as error:
            error.partial = relay.partial()
            raise
        return reply, relay


class _Relay:
    """Splits a stream into events, passes them on, and keeps what is needed to assemble the reply."""

    def __init__(self, streaming: Streaming, protocol: StreamProtocol, *, asks_for_usage: bool) -> None:
        self.asks_for_usage = asks_for_usage
        self._streaming = streaming
        self._hides_usage = asks_for_usage and not streaming.options.get("include_usage")
        self._protocol = protocol
        self._buffer = bytearray()
        self._searched = 0
        self._events: list[Event] = []
        self._problem = ""
        self._ended = False
        self._passed = False

    async def feed(self, chunk: bytes, headers: Mapping[str, str]) -> None:
        self._buffer += chunk
        for raw in self._complete_events():
            text = self._read(raw)
            if not text:
                continue
            if self._ended:
                self._streaming.tail.append(text)
            else:
                self._passed = True
                await self._streaming.sink(text, headers)

    def assembled(self) -> bytes:
        """Return the reply. Raise StreamCutError if the stream has no end, or reports an error."""
        problem = self._problem or ("" if self._ended else "it ended before the answer was complete")
        if not problem:
            try:
                return json_codec.dumps(self._protocol.assemble(self._events))
            except ValueError as error:
                problem = f"it does not follow the protocol: {error}"
        raise StreamCutError(f"The stream of the provider broke off: {problem.rstrip('.')}.", partial=self.partial())

    def partial(self) -> bytes | None:
        """Return the reply as far as it was passed on, empty where that cannot be assembled; None if nothing was."""
        if not self._passed:
            return None
        try:
            return json_codec.dumps(self._protocol.assemble(self._events))
        except ValueError:
            return b"{}"

    def _complete_events(self) -> Iterator[bytes]:
        while match := _BLANK_LINE.search(self._buffer, self._searched):
            raw = bytes(self._buffer[: match.end()])
            del self._buffer[: match.end()]
            self._searched = 0
            yield raw
        self._searched = max(0, len(self._buffer) - _LONGEST_SEPARATOR + 1)

    def _read(self, raw: bytes) -> bytes:
        """Note an event, and return what the program gets of it; nothing of what follows a problem."""
        data = b"\n".join(line[5:].strip() for line in raw.splitlines() if line.startswith(b"data:"))
        if self._problem:
            return b""
        if not data:
            return raw  # a comment that keeps the connection alive
        if data == _DONE:
            self._ended = True
            return raw
        try:
            event: Any = json_codec.loads(data, nan=True)
        except ValueError as error:
            self._problem = f"an event is not JSON ({error})"
            return b""
        if not isinstance(event, dict):
            self._problem = "an event is not a JSON object"
            return b""
        if (message := stream_error(event)) is not None:
            self._problem = f"the provider says: {message}"
            return b""
        self._events.append(event)
        self._ended = self._ended or self._protocol.is_end(event)
        if self._hides_usage and event.get("usage") is not None and not event.get("choices"):
            return b""  # the program did not ask for it, and may expect choices in every event
        return raw
