"""What crosses between the process that leases runs and its workers: JSON, and the bytes of results and recordings.

to a worker      setup, lease, cancel, listing (the answer to one), shares, end
from a worker    ready, failed, run, raised, listing, spent, waiting, calling, blocked, cache_failed, room, rates
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.sandbox.frames import read_frame, write_frame
from salvo.engine.wire.base import RecordingOptions
from salvo.scenarios.result import AgentRunResult, Batch
from salvo.scenarios.run.attempt import FinishedRun
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.permanent_faults import PermanentFault

T = TypeVar("T")
_QUESTIONS = "?"
"""The name of the questions among the parts of a run; no file of a recording has such a name."""


class Message(NamedTuple):
    kind: str
    fields: Mapping[str, Any] = {}
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """Everything that a worker needs to build its own session: names and settings, no keys and no objects."""

    salvo_version: str
    root: str
    """The project's folder; empty where the worker's current folder is a copy of it."""
    cwd: str
    """The current folder of the command, relative to the root."""
    batches: list[Batch]
    patterns: tuple[str, ...] = ()
    allow_env: tuple[str, ...] = ()
    call_limits: CallLimits = DEFAULT_LIMITS
    price_file: str | None = None
    """Relative to the root if it is inside."""
    recording: RecordingOptions | None = None
    use_cache: bool = False
    is_adaptive: bool = False
    """Whether calls are sent as fast as the providers accept them (`-j auto`)."""
    reports_cost: bool = False
    """Whether the driver counts what each call costs, because there is a limit."""


def pack(messages: Iterable[Message]) -> bytes:
    stream = io.BytesIO()
    for message in messages:
        write_frame(stream, [message.kind, message.fields], message.content)
    return stream.getvalue()


def unpack(content: bytes) -> list[Message]:
    stream = io.BytesIO(content)
    messages = []
    while stream.tell() < len(content):
        (kind, fields), more = read_frame(stream)
        messages.append(Message(kind, fields, more))
    return messages


def plain(value: object) -> Any:
    """Return a dataclass or a model as JSON has it."""
    return json_codec.loads(json_codec.dumps(value), max_depth=json_codec.MAX_DEPTH_STORED)


def typed(kind: type[T], value: Any) -> T:
    return type_adapter(kind).validate_python(value)


def run_message(batch_id: str, number: int, finished: FinishedRun) -> Message:
    """Return a finished run as a message. The result is JSON, as in its file; the recording is bytes already."""
    parts: dict[str, bytes] = {"": json_codec.dumps(finished.result), **(finished.recording or {})}
    if finished.questions is not None:
        parts[_QUESTIONS] = finished.questions
    fields = {
        "batch_id": batch_id,
        "number": number,
        "faults": finished.faults,
        "sizes": [[name, len(content)] for name, content in parts.items()],
        "recorded": finished.recording is not None,
    }
    return Message("run", fields, b"".join(parts.values()))


def finished_run(message: Message) -> FinishedRun:
    parts: dict[str, bytes] = {}
    start = 0
    sizes: Sequence[tuple[str, int]] = message.fields["sizes"]
    for name, size in sizes:
        parts[name] = message.content[start : start + size]
        start += size
    result = typed(AgentRunResult, json_codec.loads(parts.pop(""), max_depth=json_codec.MAX_DEPTH_STORED))
    faults = [PermanentFault(*fault) for fault in message.fields["faults"]]
    questions = parts.pop(_QUESTIONS, None)
    return FinishedRun(result, parts if message.fields["recorded"] else None, faults, questions=questions)
