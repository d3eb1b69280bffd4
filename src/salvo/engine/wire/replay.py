"""ReplayWire: a wire that answers from a tape, and explains each request that was not recorded."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.redact import Redactor
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire import json_layout
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.call_order import RecordedOrder
from salvo.engine.wire.matching import Matching
from salvo.engine.wire.redaction.query import redact_query
from salvo.engine.wire.tape import (
    RECORD_AGAIN,
    Address,
    Content,
    Exchange,
    FormattedJsonContent,
    JsonContent,
    OmittedContent,
    RequestKeys,
    Tape,
    TapedError,
    TapedRequest,
    TextContent,
    parse_content,
)
from salvo.errors import (
    AnswerPendingError,
    BrokenReplyError,
    NoBatchAnswerError,
    NotReplayableError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    StreamCutError,
    TapeCorruptError,
    TapeMissError,
    UnreachableError,
    WireError,
)

_WIRE_ERRORS: dict[str, type[WireError]] = {
    kind.__name__: kind
    for kind in (
        UnreachableError,
        ReplyTimeoutError,
        BrokenReplyError,
        ReplyTooLargeError,
        StreamCutError,
        AnswerPendingError,
        NoBatchAnswerError,
    )
}


class ReplayWire:
    """Answers from a tape, without a socket and without a key. A request that was not recorded is an error."""

    def __init__(self, tape: Tape, redactor: Redactor, *, order: RecordedOrder | None = None) -> None:
        """`order` is that of the calls to keep; without it, the order is not looked at."""
        self._redactor = redactor
        self._order = order or RecordedOrder([])
        self.paths = frozenset(exchange.request.path.partition("?")[0] for exchange in tape.exchanges)
        """The recorded paths, without their queries."""
        taped_paths = [exchange.request.path for exchange in tape.exchanges]
        plain_queries = any(redact_query(path, redactor) != path for path in taped_paths if "?" in path)
        self._matching = Matching(tape.matching, tape.ignored)
        self._keys = RequestKeys(redactor, self._matching, plain_queries=plain_queries)
        self._recorded: dict[Address, Exchange] = {
            (exchange.lane, exchange.key, exchange.occurrence): exchange for exchange in tape.exchanges
        }
        self._answered: set[Address] = set()

    @property
    def unused(self) -> list[Exchange]:
        """The recorded exchanges that were not requested again."""
        return [exchange for address, exchange in self._recorded.items() if address not in self._answered]

    async def send(self, request: WireRequest) -> WireReply:
        address, text = self._keys.next(request)
        exchange = self._recorded.get(address)
        if exchange is None:
            raise self._miss(request, address, text)
        self._answered.add(address)
        await self._order.keep(exchange.span)
        return _reply_from(exchange)

    def _miss(self, request: WireRequest, address: Address, text: str) -> TapeMissError:
        """Return the error for a request that was not recorded; it shows the nearest recorded request."""
        lane, _, occurrence = address
        unused = self.unused
        message = (
            f"Nothing was recorded for this request to {redact_query(request.path, self._redactor)} in lane {lane!r}."
        )
        if occurrence > 1 or not unused:
            before = f"It was recorded {pluralize(occurrence - 1, 'time')} and is now sent once more."
            return TapeMissError(
                f"{message} {before if occurrence > 1 else 'All recorded requests have been answered already.'}",
                hint="The code under test sends more requests than it did when it was recorded.",
            )
        same_lane = [exchange for exchange in unused if exchange.lane == lane]
        exchange, changes = self._nearest(request, text, same_lane or unused)
        lines = [difference.text("recorded", "now") for difference in changes[:_MAX_DIFFERENCES]]
        if len(changes) > len(lines):
            lines.append(f"and {len(changes) - len(lines)} more")
        listing = "".join(f"\n  {line}" for line in lines)
        advice = _ADVICE if self._matching.version else ""
        return TapeMissError(
            f"{message}\nThe nearest recorded request is {_describe(exchange)}. It differs in:{listing}{advice}"
        )

    def _nearest(
        self, request: WireRequest, text: str, candidates: list[Exchange]
    ) -> tuple[Exchange, list[Difference]]:
        headers = self._redactor.headers(request.headers)
        as_taped = TapedRequest(request.method, request.endpoint, request.path, headers, parse_content(text))
        now = self._comparable(request.lane, as_taped)
        compared = (
            (exchange, list(differences(self._comparable(exchange.lane, exchange.request), now)))
            for exchange in candidates
        )
        return min(compared, key=lambda pair: len(pair[1]))

    def _comparable(self, lane: str, request: TapedRequest) -> dict[str, Any]:
        """Return what counts of a request as one flat value: method, path, lane, headers and the fields of its body."""
        if isinstance(request.body, JsonContent):
            counted = self._matching.body(request.path, request.body.json)
            fields = counted if isinstance(counted, dict) else {"body": counted}
        else:
            omitted = request.body.withheld if isinstance(request.body, OmittedContent) else "(not JSON)"
            fields = {"body": omitted}
        headers = {f"header {name}": value for name, value in self._matching.headers(request.headers).items()}
        # An earlier version may have recorded a credential in the query.
        path = redact_query(self._matching.path(request.path), self._redactor)
        return {"method": request.method, "path": path, "lane": lane, **headers, **fields}


def _reply_from(exchange: Exchange) -> WireReply:
    taped = exchange.reply
    if taped is None:
        raise NotReplayableError(
            f"The recording ends before {_describe(exchange)} was answered.",
            hint="The recorded run was interrupted. Record it again.",
        )
    if isinstance(taped, TapedError):
        error = _WIRE_ERRORS.get(taped.fault, WireError)(taped.message, hint=taped.hint)
        error.attempts, error.span = taped.attempts, exchange.span
        if isinstance(error, StreamCutError) and taped.partial is not None:
            error.partial = _body(taped.partial, exchange)
        raise error
    body = _body(taped.body, exchange)
    return WireReply(taped.status, body, taped.headers, taped.seconds, taped.attempts, span=exchange.span)


def _body(content: Content, exchange: Exchange) -> bytes:
    if isinstance(content, OmittedContent):
        raise NotReplayableError(
            f"The reply to {_describe(exchange)} was not stored ({content.withheld}), so it cannot be replayed.",
            hint="Record it again with its content, and with a higher limit if it was too large.",
        )
    if isinstance(content, FormattedJsonContent):
        return json_layout.write(content)
    if isinstance(content, JsonContent):
        return json_codec.dumps(content.json)
    if isinstance(content, TextContent):
        return content.text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content.base64, validate=True)
    except binascii.Error as error:
        raise TapeCorruptError(f"The reply to {_describe(exchange)} is damaged.", hint=RECORD_AGAIN) from error


def _describe(exchange: Exchange) -> str:
    lane = f"in lane {exchange.lane!r}" if exchange.lane else "without a lane"
    repeated = f" (occurrence {exchange.occurrence})" if exchange.occurrence > 1 else ""
    return f"the request to {exchange.request.path.partition('?')[0]} {lane}{repeated}"


_MAX_DIFFERENCES = 5
_ADVICE = "\nIf the model never sees what differs, name it in the scenario (record: {ignore: [...]}) and record again."
