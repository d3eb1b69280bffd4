"""The tape: requests and replies as versioned JSON, and how a request is matched to its recorded reply.

A request is matched by its lane (who sends it), its key (a hash of the redacted request) and its occurrence (which
time the lane sends this key, counted when it is sent). So concurrent requests, even identical ones, get their own
replies, in whatever order the replies arrive.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic_core import ValidationError

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Attempt, CallSpan, WireRequest
from salvo.engine.wire.matching import Matching
from salvo.engine.wire.redaction.query import redact_query
from salvo.engine.wire.redaction.reasoning import may_hold_reasoning, without_reasoning
from salvo.errors import TapeCorruptError
from salvo.records import record

VERSION = 1


@record
class JsonContent:
    json: Any


@record
class FormattedJsonContent:
    """JSON that was not written as our own writer does. The layout gives back every byte of it."""

    json: Any
    layout: str
    end: str = ""


@record
class TextContent:
    text: str


@record
class BinaryContent:
    base64: str


@record
class OmittedContent:
    """Content that was not stored, with the reason. Its hash still shows whether two contents are equal."""

    withheld: str
    bytes: int
    sha256: str


Content: TypeAlias = FormattedJsonContent | JsonContent | TextContent | BinaryContent | OmittedContent


@record
class TapedRequest:
    method: str
    endpoint: str
    path: str
    headers: dict[str, str]
    body: Content


@record
class TapedReply:
    status: int
    headers: dict[str, str]
    body: Content
    seconds: float
    attempts: tuple[Attempt, ...] = ()


@record
class TapedError:
    """A request without a reply. `fault` is the name of the error class."""

    fault: str
    message: str
    hint: str
    attempts: tuple[Attempt, ...] = ()
    partial: Content | None = None
    """What a program got of a stream that broke off."""


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and its reply or error; None where the recording ended before either."""

    lane: str
    key: str
    occurrence: int
    request: TapedRequest
    reply: TapedReply | TapedError | None = None
    span: CallSpan | None = None
    """None in recordings of earlier versions."""


Address: TypeAlias = tuple[str, str, int]


@dataclass(slots=True)
class Tape:
    """Exchanges in the order of sending. `ambiguous` lists replies that a replay may match wrongly, and why."""

    salvo_tape: int = VERSION
    matching: int = 0
    """The version of the rules by which requests are matched; 0 in recordings of earlier versions."""
    ignored: list[str] = field(default_factory=list)
    """What the scenario ignored in requests."""
    ambiguous: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    @classmethod
    def from_document(cls, document: Any, name: str = "The tape") -> Tape:
        """Read a tape from its JSON. `name` is for messages. Raises TapeCorruptError with what is wrong and where."""
        version = document.get("salvo_tape") if isinstance(document, dict) else None
        if version is None:
            raise TapeCorruptError(f"{name} is not a Salvo recording.", hint=RECORD_AGAIN)
        if version != VERSION:
            raise TapeCorruptError(
                f"{name} has version {version}; this version of Salvo reads version {VERSION}.",
                hint="Replay it with the version that recorded it, or record it again.",
            )
        try:
            return type_adapter(Tape).validate_python(document)
        except ValidationError as error:
            path, message = first_error(error)
            raise TapeCorruptError(f"{name} is damaged at {path}: {message}.", hint=RECORD_AGAIN) from error


RECORD_AGAIN = "Restore it from version control or a backup, or record it again."


class RequestKeys:
    """Computes the addresses of requests, for recording and for replay."""

    def __init__(self, redactor: Redactor, matching: Matching, *, plain_queries: bool = False) -> None:
        self._redactor = redactor
        self._matching = matching
        self._plain_queries = plain_queries
        """For tapes of earlier versions, which hold the query as it was sent."""
        self._counts: Counter[tuple[str, str]] = Counter()

    def next(self, request: WireRequest) -> tuple[Address, str]:
        """Return the address of the request, and its body as text, redacted and without reasoning."""
        _, text = clean_body(request.body, self._redactor)
        path, headers, body = self._matching.counts(request)
        counted = text if body is request.body else clean_body(body, self._redactor)[1]
        path = path if self._plain_queries else redact_query(path, self._redactor)
        lines = [f"{name}: {self._redactor.text(value)}" for name, value in headers.items()]
        key = hashlib.sha256(
            "\n".join([f"{request.method} {path}", *lines, counted]).encode("utf-8", "surrogateescape")
        ).hexdigest()
        self._counts[request.lane, key] += 1
        return (request.lane, key, self._counts[request.lane, key]), text


def clean_body(body: Any, redactor: Redactor) -> tuple[Any, str]:
    """Return the body as it may be stored, and its text. Bytes that are not UTF-8 are surrogates in the text."""
    if isinstance(body, bytes):
        text = redactor.text(body.decode("utf-8", "surrogateescape"))
        return text, text
    text = stable_text(body)
    if may_hold_reasoning(text) and (clean := without_reasoning(body)) is not body:
        body, text = clean, stable_text(clean)
    if redactor.may_touch(text) and (clean := redactor.json(body)) is not body:
        body, text = clean, stable_text(clean)
    return body, text


def parse_content(text: str) -> JsonContent | TextContent:
    """Return the JSON value of a stable text; the text itself where JSON cannot represent the value."""
    try:
        return JsonContent(json_codec.loads(text))
    except ValueError:
        return TextContent(text)
