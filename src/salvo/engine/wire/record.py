"""RecordingWire: a wire around another wire that records every request and reply on a tape."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.engine.wire.query_redaction import redact_query
from salvo.engine.wire.tape import (
    BinaryContent,
    Content,
    Exchange,
    JsonContent,
    OmittedContent,
    RequestKeys,
    Tape,
    TapedError,
    TapedReply,
    TapedRequest,
    TextContent,
    clean_body,
    parse_content,
)
from salvo.errors import WireError


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """Limits that keep recordings small or private. A replay needs the content of replies, but not of requests."""

    max_request_bytes: int = 256 * 1024
    max_reply_bytes: int = 5 * 1024 * 1024
    hashes_only: bool = False


class RecordingWire:
    """Sends requests through the inner wire, and records on `tape` what a replay needs."""

    def __init__(self, inner: Wire, redactor: Redactor, options: RecordingOptions | None = None) -> None:
        self.tape = Tape()
        self._inner = inner
        self._redactor = redactor
        self._options = options or RecordingOptions()
        self._keys = RequestKeys(redactor)
        self._in_flight: Counter[tuple[str, str]] = Counter()

    async def send(self, request: WireRequest) -> WireReply:
        exchange = self._begin(request)
        lane_and_key = (exchange.lane, exchange.key)
        self._in_flight[lane_and_key] += 1
        if self._in_flight[lane_and_key] == 2:
            lane = f"in the lane {request.lane!r}" if request.lane else "without a lane"
            self.tape.ambiguous.append(
                f"Identical requests to {exchange.request.path} were in flight at the same time {lane}, "
                f"so their replies are matched in the order of sending."
            )
        try:
            reply = await self._inner.send(request)
        except WireError as error:
            exchange.reply = TapedError(
                type(error).__name__, self._redactor.text(error.message), error.hint, error.attempts
            )
            raise
        except Exception:
            self.tape.exchanges.remove(exchange)  # nothing was sent, for example because a key is missing
            raise
        finally:
            self._in_flight[lane_and_key] -= 1
        headers = self._redactor.headers(reply.headers)
        content = self._reply_content(reply.body)
        exchange.reply = TapedReply(reply.status, headers, content, reply.seconds, reply.attempts)
        return reply

    def _begin(self, request: WireRequest) -> Exchange:
        (lane, key, occurrence), text = self._keys.next(request)
        exchange = Exchange(
            lane,
            key,
            occurrence,
            TapedRequest(
                request.method,
                request.endpoint,
                redact_query(request.path, self._redactor),
                self._redactor.headers(request.headers),
                # From its text, because the caller may change the object after sending it.
                self._omit(text, self._options.max_request_bytes) or parse_content(text),
            ),
        )
        self.tape.exchanges.append(exchange)
        return exchange

    def _reply_content(self, body: bytes) -> Content:
        content: Content
        try:
            value, text = clean_body(json_codec.loads(body), self._redactor)
            content = JsonContent(value)
        except ValueError:
            try:
                text = self._redactor.text(body.decode())
                content = TextContent(text)
            except UnicodeDecodeError:
                clean = self._redactor.text(body.decode("latin-1")).encode("latin-1")
                text = base64.b64encode(clean).decode()
                content = BinaryContent(text)
        return self._omit(text, self._options.max_reply_bytes) or content

    def _omit(self, text: str, limit: int) -> OmittedContent | None:
        if self._options.hashes_only:
            reason = "only hashes were recorded"
        elif len(text) > limit:
            reason = f"larger than the limit of {limit:,} bytes"
        else:
            return None
        encoded = text.encode("utf-8", "surrogatepass")
        return OmittedContent(reason, len(encoded), sha256(encoded))
