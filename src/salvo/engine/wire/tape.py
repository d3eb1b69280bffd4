"""The tape: what was asked and what came back, as versioned JSON, and how a request finds its reply again.

A request is matched by its lane (who asks), its key (what is asked, after redaction) and its occurrence (the
how-manieth time the lane asks it, counted at sending). So calls in flight together, identical ones too, find
their own replies again, whatever order those come in.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Attempt, WireRequest
from salvo.engine.wire.reasoning_redaction import may_hold_reasoning, without_reasoning
from salvo.errors import TapeCorruptError

VERSION = 1


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
class OmittedContent:
    """Not kept, and why; its hash still tells whether two were the same."""

    withheld: str
    bytes: int
    sha256: str


Content: TypeAlias = JsonContent | TextContent | BinaryContent | OmittedContent


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

    salvo_tape: int = VERSION
    ambiguous: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    def to_json(self) -> bytes:
        return json_codec.dumps(self, indent=1)

    @classmethod
    def from_json(cls, content: bytes, name: str = "The tape") -> Tape:
        """Reads a tape, `name` being what messages call it; TapeCorruptError says what is wrong where."""
        from pydantic import ValidationError

        try:
            found = json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)
        except ValueError as error:
            raise TapeCorruptError(f"{name} is damaged: {error}.", hint=RECORD_AGAIN) from error
        version = found.get("salvo_tape") if isinstance(found, dict) else None
        if version is None:
            raise TapeCorruptError(f"{name} is not a recording of Salvo.", hint=RECORD_AGAIN)
        if version != VERSION:
            raise TapeCorruptError(
                f"{name} has version {version}, and this Salvo reads version {VERSION}.",
                hint="Replay it with the version that recorded it, or record it again.",
            )
        try:
            return type_adapter(Tape).validate_python(found)
        except ValidationError as error:
            where, what = first_error(error)
            raise TapeCorruptError(f"{name} is damaged at {where}: {what}.", hint=RECORD_AGAIN) from error


RECORD_AGAIN = "Restore it from version control or a backup, or record it again."


class RequestKeys:
    """Tells requests apart: the same for recording and replay, or neither would find the other."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._asked: Counter[tuple[str, str]] = Counter()

    def next(self, request: WireRequest) -> tuple[Address, str]:
        """The request's address, and its body as text: redacted, and without reasoning."""
        _, text = cleaned(request.body, self._redactor)
        key = hashlib.sha256(f"{request.method} {request.path}\n{text}".encode()).hexdigest()
        self._asked[request.lane, key] += 1
        return (request.lane, key, self._asked[request.lane, key]), text


def cleaned(body: Any, redactor: Redactor) -> tuple[Any, str]:
    """A body as it may be stored, and its text."""
    text = stable_text(body)
    if may_hold_reasoning(text):
        body = without_reasoning(body)
        text = stable_text(body)
    if redactor.may_touch(text):
        body = redactor.json(body)
        text = stable_text(body)
    return body, text


def parsed(text: str) -> JsonContent | TextContent:
    """The JSON behind a stable text; the text itself where it stands for something JSON has no form for."""
    try:
        return JsonContent(json_codec.loads(text))
    except ValueError:
        return TextContent(text)
