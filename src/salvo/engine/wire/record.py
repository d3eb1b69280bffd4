"""RecordingWire: a wire around a wire, never a patch. It passes everything through and keeps it on a tape."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Wire, WireReply, WireRequest
from salvo.engine.wire.tape import (
    BinaryContent,
    Content,
    Exchange,
    JsonContent,
    OmittedContent,
    RequestKeys,
    Tape,
    TapedFault,
    TapedReply,
    TapedRequest,
    TextContent,
    cleaned,
    parsed,
)
from salvo.errors import WireError


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """What keeps recordings small or private. Replay needs a request's key alone, but a reply's content."""

    max_request_bytes: int = 256 * 1024
    max_reply_bytes: int = 5 * 1024 * 1024
    hashes_only: bool = False


class RecordingWire:
    """Passes everything through, and keeps what a replay needs on `tape`."""

    def __init__(self, inner: Wire, redactor: Redactor, options: RecordingOptions | None = None) -> None:
        self.tape = Tape()
        self._inner = inner
        self._redactor = redactor
        self._options = options or RecordingOptions()
        self._numbering = RequestKeys(redactor)
        self._in_flight: Counter[tuple[str, str]] = Counter()

    async def send(self, request: WireRequest) -> WireReply:
        exchange = self._begin(request)
        twins = (exchange.lane, exchange.key)
        self._in_flight[twins] += 1
        if self._in_flight[twins] == 2:
            lane = f"in the lane {request.lane!r}" if request.lane else "without a lane"
            self.tape.ambiguous.append(
                f"Identical requests to {request.path} were in flight together {lane}, "
                f"so which reply belongs to which is the order of sending."
            )
        try:
            reply = await self._inner.send(request)
        except WireError as error:
            exchange.reply = TapedFault(
                type(error).__name__, self._redactor.text(error.message), error.hint, error.attempts
            )
            raise
        except Exception:
            self.tape.exchanges.remove(exchange)  # nothing was sent: a missing key, a wrong address
            raise
        finally:
            self._in_flight[twins] -= 1
        exchange.reply = self._taped(reply)
        return reply

    def _begin(self, request: WireRequest) -> Exchange:
        (lane, key, occurrence), text = self._numbering.next(request)
        exchange = Exchange(
            lane,
            key,
            occurrence,
            TapedRequest(
                request.method,
                request.endpoint,
                request.path,
                self._redactor.headers(request.headers),
                # From its text, not the caller's object: that one may still change after it was sent.
                self._withheld(text, self._options.max_request_bytes) or parsed(text),
            ),
        )
        self.tape.exchanges.append(exchange)
        return exchange

    def _taped(self, reply: WireReply) -> TapedReply:
        return TapedReply(
            reply.status,
            self._redactor.headers(reply.headers),
            self._reply_content(reply.body),
            reply.seconds,
            reply.attempts,
        )

    def _reply_content(self, body: bytes) -> Content:
        limit = self._options.max_reply_bytes
        try:
            value, text = cleaned(json_codec.loads(body), self._redactor)
        except ValueError:
            return self._reply_text(body, limit)
        return self._withheld(text, limit) or JsonContent(value)

    def _reply_text(self, body: bytes, limit: int) -> Content:
        try:
            text = self._redactor.text(body.decode())
        except UnicodeDecodeError:
            clean = self._redactor.text(body.decode("latin-1")).encode("latin-1")
            text = base64.b64encode(clean).decode()
            return self._withheld(text, limit) or BinaryContent(text)
        return self._withheld(text, limit) or TextContent(text)

    def _withheld(self, text: str, limit: int) -> OmittedContent | None:
        if self._options.hashes_only:
            reason = "only hashes were recorded"
        elif len(text) > limit:
            reason = f"larger than the limit of {limit:,} bytes"
        else:
            return None
        encoded = text.encode("utf-8", "surrogatepass")
        return OmittedContent(reason, len(encoded), sha256(encoded))
