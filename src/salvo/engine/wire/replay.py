"""ReplayWire: a wire that answers from a tape, and explains each request that was not recorded.

`offline` blocks the network for the whole process during a replay, also for a user's code.
"""

from __future__ import annotations

import base64
import binascii
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.redact import Redactor
from salvo.engine.text.formatting import pluralize
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.query_redaction import redact_query
from salvo.engine.wire.tape import (
    RECORD_AGAIN,
    Address,
    Content,
    Exchange,
    JsonContent,
    OmittedContent,
    RequestKeys,
    Tape,
    TapedError,
    TextContent,
    parse_content,
)
from salvo.errors import (
    BrokenReplyError,
    NotReplayableError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    TapeCorruptError,
    TapeMissError,
    UnreachableError,
    WireError,
)

_WIRE_ERRORS: dict[str, type[WireError]] = {
    kind.__name__: kind for kind in (UnreachableError, ReplyTimeoutError, BrokenReplyError, ReplyTooLargeError)
}


class ReplayWire:
    """Answers from a tape, without a socket and without a key. A request that was not recorded is an error."""

    def __init__(self, tape: Tape, redactor: Redactor) -> None:
        self._redactor = redactor
        self.paths = frozenset(exchange.request.path.partition("?")[0] for exchange in tape.exchanges)
        """The recorded paths, without their queries."""
        taped_paths = [exchange.request.path for exchange in tape.exchanges]
        plain_queries = any(redact_query(path, redactor) != path for path in taped_paths if "?" in path)
        self._keys = RequestKeys(redactor, plain_queries=plain_queries)
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
            shown = replace(request, path=redact_query(request.path, self._redactor))
            raise _miss(shown, address, text, self.unused, self._redactor)
        self._answered.add(address)
        return _reply_from(exchange)


def _reply_from(exchange: Exchange) -> WireReply:
    taped = exchange.reply
    if taped is None:
        raise NotReplayableError(
            f"The recording ends before {_describe(exchange)} was answered.",
            hint="The recorded run was interrupted. Record it again.",
        )
    if isinstance(taped, TapedError):
        error = _WIRE_ERRORS.get(taped.fault, WireError)(taped.message, hint=taped.hint)
        error.attempts = taped.attempts
        raise error
    return WireReply(taped.status, _body(taped.body, exchange), taped.headers, taped.seconds, taped.attempts)


def _body(content: Content, exchange: Exchange) -> bytes:
    if isinstance(content, OmittedContent):
        raise NotReplayableError(
            f"The reply to {_describe(exchange)} was not stored ({content.withheld}), so it cannot be replayed.",
            hint="Record it again with its content, and with a higher limit if it was too large.",
        )
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


def _miss(
    request: WireRequest, address: Address, text: str, unused: list[Exchange], redactor: Redactor
) -> TapeMissError:
    """Return the error for a request that was not recorded; it shows the nearest recorded request."""
    lane, _, occurrence = address
    message = f"Nothing was recorded for this request to {request.path} in lane {lane!r}."
    if occurrence > 1 or not unused:
        before = f"It was recorded {pluralize(occurrence - 1, 'time')} and is now sent once more."
        return TapeMissError(
            f"{message} {before if occurrence > 1 else 'All recorded requests have been answered already.'}",
            hint="The code under test sends more requests than it did when it was recorded.",
        )
    same_lane = [exchange for exchange in unused if exchange.lane == lane]
    exchange, changes = _nearest(request, parse_content(text), same_lane or unused, redactor)
    lines = [difference.text("recorded", "now") for difference in changes[:_MAX_DIFFERENCES]]
    if len(changes) > len(lines):
        lines.append(f"and {len(changes) - len(lines)} more")
    listing = "".join(f"\n  {line}" for line in lines)
    return TapeMissError(f"{message}\nThe nearest recorded request is {_describe(exchange)}. It differs in:{listing}")


_MAX_DIFFERENCES = 5


def _nearest(
    request: WireRequest, body: Content, candidates: list[Exchange], redactor: Redactor
) -> tuple[Exchange, list[Difference]]:
    now = _comparable(request.method, request.path, request.lane, body)
    compared = (
        (exchange, list(differences(_comparable(taped.method, path, exchange.lane, taped.body), now)))
        for exchange in candidates
        for taped in (exchange.request,)
        for path in (redact_query(taped.path, redactor),)  # an earlier version may have recorded a credential in it
    )
    return min(compared, key=lambda pair: len(pair[1]))


def _comparable(method: str, path: str, lane: str, body: Content) -> dict[str, Any]:
    """Return the request as one flat value: method, path, lane and the fields of its body."""
    if isinstance(body, JsonContent):
        fields = body.json if isinstance(body.json, dict) else {"body": body.json}
    else:
        fields = {"body": body.withheld if isinstance(body, OmittedContent) else "(not JSON)"}
    return {"method": method, "path": path, "lane": lane, **fields}


_offline = {"blocks": 0, "hooks": 0}
_NETWORK_EVENTS = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
)


@contextmanager
def offline() -> Iterator[None]:
    """Make every connection attempt in this process raise TapeMissError, in all threads."""
    if not _offline["hooks"]:
        sys.addaudithook(_refuse)  # an audit hook cannot be removed, so it is added once and checks the state
        _offline["hooks"] = 1
    _offline["blocks"] += 1
    try:
        yield
    finally:
        _offline["blocks"] -= 1


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _NETWORK_EVENTS and _offline["blocks"]:
        raise TapeMissError(
            "The code under test tried to use the network, which is blocked during a replay.",
            hint="Send requests through the wire of the RunContext: those are recorded and replayed.",
        )
