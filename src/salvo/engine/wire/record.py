"""RecordingWire: a wire around another wire that records every request and reply on a tape."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire import json_layout, matching
from salvo.engine.wire.base import CallSpan, RecordingOptions, Wire, WireReply, WireRequest
from salvo.engine.wire.call_order import CallCounter
from salvo.engine.wire.matching import Matching
from salvo.engine.wire.network_guard import unobserved
from salvo.engine.wire.redaction.query import redact_query
from salvo.engine.wire.redaction.reasoning import may_hold_reasoning
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
from salvo.errors import StreamCutError, WireError


class RecordingWire:
    """Sends requests through the inner wire, and records on `tape` what a replay needs."""

    def __init__(
        self,
        inner: Wire,
        redactor: Redactor,
        options: RecordingOptions | None = None,
        *,
        counter: CallCounter | None = None,
        ignored: Sequence[str] | None = None,
    ) -> None:
        """`counter` counts the calls of the run, of which some may be made without this wire.

        `ignored` are rules for matching besides the default ones; without it, all of a request must match.
        """
        self.tape = Tape() if ignored is None else Tape(matching=matching.VERSION, ignored=list(ignored))
        self._counter = counter or CallCounter()
        self._inner = inner
        self._redactor = redactor
        self._options = options or RecordingOptions()
        self._matching = Matching(self.tape.matching, self.tape.ignored)
        self._keys = RequestKeys(redactor, self._matching)
        self._in_flight: Counter[tuple[str, str]] = Counter()

    async def send(self, request: WireRequest) -> WireReply:
        span = self._counter.start()
        exchange = self._begin(request, span)
        lane_and_key = (exchange.lane, exchange.key)
        self._in_flight[lane_and_key] += 1
        if self._in_flight[lane_and_key] == 2:
            lane = f"in the lane {request.lane!r}" if request.lane else "without a lane"
            self.tape.ambiguous.append(
                f"Identical requests to {exchange.request.path} were in flight at the same time {lane}, "
                f"so their replies are matched in the order of sending."
            )
        try:
            with unobserved():
                reply = await self._inner.send(request)
        except WireError as error:
            partial = error.partial if isinstance(error, StreamCutError) else None
            exchange.reply = TapedError(
                type(error).__name__,
                self._redactor.text(error.message),
                error.hint,
                error.attempts,
                None if partial is None else self._reply_content(partial),
            )
            self._counter.end(span)
            error.span = span
            raise
        except Exception:
            self.tape.exchanges.remove(exchange)  # nothing was sent, for example because a key is missing
            raise
        finally:
            self._in_flight[lane_and_key] -= 1
        headers = self._redactor.headers(reply.headers)
        content = self._reply_content(reply.body)
        exchange.reply = TapedReply(reply.status, headers, content, reply.seconds, reply.attempts)
        self._counter.end(span)
        return replace(reply, span=span)

    def _begin(self, request: WireRequest, span: CallSpan) -> Exchange:
        # Headers that do not count are not stored: they may tell more about an account than a replay needs.
        headers = self._matching.headers(request.headers) if self.tape.matching else request.headers
        (lane, key, occurrence), text = self._keys.next(request)
        exchange = Exchange(
            lane,
            key,
            occurrence,
            TapedRequest(
                request.method,
                request.endpoint,
                redact_query(request.path, self._redactor),
                self._redactor.headers(headers),
                # From its text, because the caller may change the object after sending it.
                self._omit(text, self._options.max_request_bytes) or parse_content(text),
            ),
            span=span,
        )
        self.tape.exchanges.append(exchange)
        return exchange

    def _reply_content(self, body: bytes) -> Content:
        content: Content
        try:
            value = json_codec.loads(body)
        except ValueError:
            text, content = self._text_content(body)
        else:
            clean, text = clean_body(value, self._redactor)
            formatted = json_layout.content(clean, value, body)
            # Without a known layout every byte is kept as text, unless something in it must not be stored.
            if formatted is not None or clean is not value or may_hold_reasoning(body.decode("utf-8", "replace")):
                content = formatted or JsonContent(clean)
            else:
                text, content = self._text_content(body)
        return self._omit(text, self._options.max_reply_bytes) or content

    def _text_content(self, body: bytes) -> tuple[str, Content]:
        try:
            text = self._redactor.text(body.decode())
        except UnicodeDecodeError:
            clean = self._redactor.text(body.decode("latin-1")).encode("latin-1")
            encoded = base64.b64encode(clean).decode()
            return encoded, BinaryContent(encoded)
        return text, TextContent(text)

    def _omit(self, text: str, limit: int) -> OmittedContent | None:
        if self._options.hashes_only:
            reason = "only hashes were recorded"
        elif len(text) > limit:
            reason = f"larger than the limit of {limit:,} bytes"
        else:
            return None
        encoded = text.encode("utf-8", "surrogatepass")
        return OmittedContent(reason, len(encoded), sha256(encoded))
