"""ReplayWire: a wire around nothing. It answers from a tape, and a request it does not know explains itself."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_diff import Difference, differences
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.tape import (
    RECORD_AGAIN,
    Address,
    Content,
    Exchange,
    JsonContent,
    OmittedContent,
    RequestKeys,
    Tape,
    TapedFault,
    TextContent,
    parsed,
)
from salvo.errors import (
    NotReplayableError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    TapeCorruptError,
    TapeMissError,
    UnreachableError,
    WireError,
)

_FAULTS = {kind.__name__: kind for kind in (UnreachableError, ReplyTimeoutError, ReplyTooLargeError)}


class ReplayWire:
    """Answers from a tape. It opens no socket, needs no key, and a request it does not know is an error."""

    def __init__(self, tape: Tape, redactor: Redactor) -> None:
        self._tape = tape
        self._numbering = RequestKeys(redactor)
        self._recorded: dict[Address, Exchange] = {
            (exchange.lane, exchange.key, exchange.occurrence): exchange for exchange in tape.exchanges
        }
        self._answered: set[Address] = set()

    @property
    def ambiguous(self) -> list[str]:
        """Why an identical outcome may be luck; empty where it cannot be."""
        return self._tape.ambiguous

    @property
    def unasked(self) -> list[Exchange]:
        """What was recorded and not asked for again."""
        return [exchange for address, exchange in self._recorded.items() if address not in self._answered]

    async def send(self, request: WireRequest) -> WireReply:
        address, text = self._numbering.next(request)
        exchange = self._recorded.get(address)
        if exchange is None:
            raise _miss(request, address, text, self.unasked)
        self._answered.add(address)
        return _again(exchange)


def _again(exchange: Exchange) -> WireReply:
    taped = exchange.reply
    if taped is None:
        raise NotReplayableError(
            f"The recording ends while {_named(exchange)} was still unanswered.",
            hint="It was interrupted there; record it again to go on.",
        )
    if isinstance(taped, TapedFault):
        error = _FAULTS.get(taped.fault, WireError)(taped.message, hint=taped.hint)
        error.attempts = taped.attempts
        raise error
    return WireReply(taped.status, _body(taped.body, exchange), taped.headers, taped.seconds, taped.attempts)


def _body(content: Content, exchange: Exchange) -> bytes:
    if isinstance(content, OmittedContent):
        raise NotReplayableError(
            f"The reply to {_named(exchange)} was not kept ({content.withheld}), so it cannot be replayed.",
            hint="Record it again, with its content and with a higher limit where that was the reason.",
        )
    if isinstance(content, JsonContent):
        return json_codec.dumps(content.json)
    if isinstance(content, TextContent):
        return content.text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content.base64, validate=True)
    except binascii.Error as error:
        raise TapeCorruptError(f"The reply to {_named(exchange)} is damaged.", hint=RECORD_AGAIN) from error


def _named(exchange: Exchange) -> str:
    lane = f"in lane {exchange.lane!r}" if exchange.lane else "without a lane"
    repeated = f" (asked for the {exchange.occurrence}. time)" if exchange.occurrence > 1 else ""
    return f"the request to {exchange.request.path} {lane}{repeated}"


def _miss(request: WireRequest, address: Address, text: str, unasked: list[Exchange]) -> TapeMissError:
    """Says what was asked, and what the nearest recorded request would have been."""
    lane, _, occurrence = address
    asked = f"Nothing was recorded for this request to {request.path} in lane {lane!r}."
    if occurrence > 1:
        return TapeMissError(
            f"{asked} It was recorded {occurrence - 1} times and is now asked once more.",
            hint="The code under test asks more often than it did when it was recorded.",
        )
    if not unasked:
        return TapeMissError(
            f"{asked} Everything that was recorded has been asked for already.",
            hint="The code under test asks more than it did when it was recorded.",
        )
    same_lane = [exchange for exchange in unasked if exchange.lane == lane]
    exchange, found = _nearest(request, parsed(text), same_lane or unasked)
    lines = [difference.text("recorded", "now") for difference in found[:_SHOWN_DIFFERENCES]]
    if len(found) > len(lines):
        lines.append(f"and {len(found) - len(lines)} more")
    listing = "".join(f"\n  {line}" for line in lines)
    return TapeMissError(f"{asked}\nThe nearest that was recorded is {_named(exchange)}. It differs in:{listing}")


_SHOWN_DIFFERENCES = 5


def _nearest(request: WireRequest, body: Content, candidates: list[Exchange]) -> tuple[Exchange, list[Difference]]:
    now = _outlined(request.method, request.path, request.lane, body)
    compared = (
        (exchange, list(differences(_outlined(taped.method, taped.path, exchange.lane, taped.body), now)))
        for exchange in candidates
        for taped in (exchange.request,)
    )
    return min(compared, key=lambda pair: len(pair[1]))


def _outlined(method: str, path: str, lane: str, body: Content) -> dict[str, Any]:
    """A request as a person compares it: the fields of its body beside method, path and lane."""
    if isinstance(body, JsonContent):
        fields = body.json if isinstance(body.json, dict) else {"body": body.json}
    else:
        fields = {"body": body.withheld if isinstance(body, OmittedContent) else "(not JSON)"}
    return {"method": method, "path": path, "lane": lane, **fields}
