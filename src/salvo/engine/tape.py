"""Recording is a wire around a wire, and replay is a wire around nothing.

A request is matched by its lane (who asks), its key (what is asked, after redaction) and its occurrence (the
how-manieth time the lane asks it, counted at sending). So calls in flight together, identical ones too, find
their own replies again, whatever order those come in.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from salvo.engine import jsontext
from salvo.engine.canonical import sha256, stable_key, stable_text
from salvo.engine.difference import Difference, differences
from salvo.engine.reasoning import without_reasoning
from salvo.engine.redact import Redactor
from salvo.engine.wire import Attempt, Wire, WireReply, WireRequest
from salvo.errors import (
    NotReplayableError,
    ReplyTimeoutError,
    ReplyTooLargeError,
    TapeCorruptError,
    TapeMissError,
    UnreachableError,
    WireFault,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 1

_FAULTS = {kind.__name__: kind for kind in (UnreachableError, ReplyTimeoutError, ReplyTooLargeError)}


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """What keeps recordings small or private. Replay needs a request's key alone, but a reply's content."""

    max_request_bytes: int = 256 * 1024
    max_reply_bytes: int = 5 * 1024 * 1024
    hashes_only: bool = False


@dataclass(frozen=True, slots=True)
class JsonContent:
    json: Any


@dataclass(frozen=True, slots=True)
class TextContent:
    text: str


@dataclass(frozen=True, slots=True)
class BinaryContent:
    base64: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """Not kept, and why; its hash still tells whether two were the same."""

    withheld: str
    bytes: int
    sha256: str


Content: TypeAlias = JsonContent | TextContent | BinaryContent | Withheld


@dataclass(frozen=True, slots=True)
class TapedRequest:
    method: str
    endpoint: str
    path: str
    headers: dict[str, str]
    body: Content


@dataclass(frozen=True, slots=True)
class TapedReply:
    status: int
    headers: dict[str, str]
    body: Content
    seconds: float
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class TapedFault:
    """No reply came back: which of the wire's faults it was, in its own words."""

    fault: str
    message: str
    hint: str
    attempts: tuple[Attempt, ...] = ()


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and what came of it; None where the recording ended before anything did."""

    lane: str
    key: str
    occurrence: int
    request: TapedRequest
    reply: TapedReply | TapedFault | None = None


Address: TypeAlias = tuple[str, str, int]


@dataclass(slots=True)
class Tape:
    """Exchanges in the order of sending. `ambiguous` names what replay can only match by luck, and why."""

    exchanges: list[Exchange] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    salvo_tape: int = VERSION

    def to_json(self) -> bytes:
        return jsontext.dumps(self, indent=1)

    @classmethod
    def from_json(cls, content: bytes, name: str = "The tape") -> Tape:
        """Reads a tape, `name` being what messages call it; TapeCorruptError says what is wrong where."""
        from pydantic import ValidationError

        try:
            found = jsontext.loads(content)
        except ValueError as fault:
            raise TapeCorruptError(f"{name} is damaged: {fault}.", hint=_RECORD_AGAIN) from fault
        version = found.get("salvo_tape") if isinstance(found, dict) else None
        if version is None:
            raise TapeCorruptError(f"{name} is not a recording of Salvo.", hint=_RECORD_AGAIN)
        if version != VERSION:
            raise TapeCorruptError(
                f"{name} has version {version}, and this Salvo reads version {VERSION}.",
                hint="Replay it with the version that recorded it, or record it again.",
            )
        try:
            return _reader().validate_python(found)
        except ValidationError as fault:
            first = fault.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise TapeCorruptError(
                f"{name} is damaged at {where}: {first['msg']}.", hint=_RECORD_AGAIN
            ) from fault


_RECORD_AGAIN = "Restore it from version control or a backup, or record it again."


@cache
def _reader() -> TypeAdapter[Tape]:
    from pydantic import TypeAdapter

    return TypeAdapter(Tape)


class Numbering:
    """Tells requests apart: the same for recording and replay, or neither would find the other."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._asked: Counter[tuple[str, str]] = Counter()

    def next(self, request: WireRequest) -> tuple[Address, str]:
        """The request's address, and its body as text: redacted, and without reasoning."""
        _, text = cleaned(request.body, self._redactor)
        key = stable_key([request.method, request.path, text])
        self._asked[request.lane, key] += 1
        return (request.lane, key, self._asked[request.lane, key]), text


def cleaned(body: Any, redactor: Redactor) -> tuple[Any, str]:
    """A body as it may be stored, and its text."""
    body = without_reasoning(body)
    text = stable_text(body)
    if redactor.may_touch(text):
        body = redactor.json(body)
        text = stable_text(body)
    return body, text


class RecordingWire:
    """Passes everything through, and keeps what a replay needs on `tape`."""

    def __init__(self, inner: Wire, redactor: Redactor, options: RecordingOptions | None = None) -> None:
        self.tape = Tape()
        self._inner = inner
        self._redactor = redactor
        self._options = options or RecordingOptions()
        self._numbering = Numbering(redactor)
        self._in_flight: Counter[tuple[str, str]] = Counter()

    async def send(self, request: WireRequest) -> WireReply:
        exchange = self._begin(request)
        twins = (exchange.lane, exchange.key)
        self._in_flight[twins] += 1
        if not request.lane and self._in_flight[twins] == 2:
            self.tape.ambiguous.append(
                f"Identical requests to {request.path} were in flight together without a lane: which reply "
                f"belongs to which depends on the order of sending."
            )
        try:
            reply = await self._inner.send(request)
        except WireFault as fault:
            exchange.reply = TapedFault(
                type(fault).__name__, self._redactor.text(fault.message), fault.hint, fault.attempts
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
                self._withheld(text, self._options.max_request_bytes) or _parsed(text),
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
            value, text = cleaned(jsontext.loads(body), self._redactor)
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

    def _withheld(self, text: str, limit: int) -> Withheld | None:
        if self._options.hashes_only:
            reason = "only hashes were recorded"
        elif len(text) > limit:
            reason = f"larger than the limit of {limit:,} bytes"
        else:
            return None
        encoded = text.encode("utf-8", "surrogatepass")
        return Withheld(reason, len(encoded), sha256(encoded))


def _parsed(text: str) -> JsonContent | TextContent:
    """The JSON behind a stable text; the text itself where it stands for something JSON has no form for."""
    try:
        return JsonContent(jsontext.loads(text))
    except ValueError:
        return TextContent(text)


class ReplayWire:
    """Answers from a tape. It opens no socket, needs no key, and a request it does not know is an error."""

    def __init__(self, tape: Tape, redactor: Redactor) -> None:
        self._tape = tape
        self._numbering = Numbering(redactor)
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
        fault = _FAULTS.get(taped.fault, WireFault)(taped.message, hint=taped.hint)
        fault.attempts = taped.attempts
        raise fault
    return WireReply(taped.status, _body(taped.body, exchange), taped.headers, taped.seconds, taped.attempts)


def _body(content: Content, exchange: Exchange) -> bytes:
    if isinstance(content, Withheld):
        raise NotReplayableError(
            f"The reply to {_named(exchange)} was not kept ({content.withheld}), so it cannot be replayed.",
            hint="Record it again, with its content and with a higher limit where that was the reason.",
        )
    if isinstance(content, JsonContent):
        return jsontext.dumps(content.json)
    if isinstance(content, TextContent):
        return content.text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content.base64, validate=True)
    except binascii.Error as fault:
        raise TapeCorruptError(f"The reply to {_named(exchange)} is damaged.", hint=_RECORD_AGAIN) from fault


def _named(exchange: Exchange) -> str:
    lane = f"lane {exchange.lane!r}" if exchange.lane else "no lane"
    return f"the request to {exchange.request.path} ({lane}, time {exchange.occurrence})"


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
    exchange, found = _nearest(request, _parsed(text), same_lane or unasked)
    lines = [difference.text("recorded", "now") for difference in found[:_SHOWN_DIFFERENCES]]
    if len(found) > len(lines):
        lines.append(f"and {len(found) - len(lines)} more")
    listing = "".join(f"\n  {line}" for line in lines)
    return TapeMissError(f"{asked} The nearest recorded is {_named(exchange)}; it differs in:{listing}")


_SHOWN_DIFFERENCES = 5


def _nearest(
    request: WireRequest, body: Content, candidates: list[Exchange]
) -> tuple[Exchange, list[Difference]]:
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
        fields = {"body": body.withheld if isinstance(body, Withheld) else "(not JSON)"}
    return {"method": method, "path": path, "lane": lane, **fields}
