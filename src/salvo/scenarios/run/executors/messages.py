"""What crosses between the process that leases runs and its workers: JSON, and the bytes of results and recordings.

to a worker      setup, lease, cancel, listing (the answer to one), shares, end
from a worker    ready, failed, run, raised, listing, spent, waiting, calling, blocked, cache_failed, room, rates
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.sandbox.frames import split_frames, write_frame
from salvo.engine.wire.base import RecordingOptions
from salvo.records import record
from salvo.scenarios.result import Batch
from salvo.scenarios.run.call_limits import DEFAULT_LIMITS, CallLimits
from salvo.scenarios.run.executors.base import EncodedRun, ReplayNote
from salvo.scenarios.run.permanent_faults import PermanentFault
from salvo.scenarios.store.index import IndexEntry, with_shared_results

T = TypeVar("T")


class Message(NamedTuple):
    kind: str
    fields: Mapping[str, Any] = {}
    content: bytes = b""


@record
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
    store_address: str = ""
    """Where the worker stores its runs; empty if the driver does."""


def pack(messages: Iterable[Message]) -> bytes:
    stream = io.BytesIO()
    for message in messages:
        write_frame(stream, [message.kind, message.fields], message.content)
    return stream.getvalue()


def unpack(content: bytes) -> tuple[list[Message], bytes]:
    """Return the messages that have come completely, and the beginning of the next one."""
    frames, rest = split_frames(content)
    return [Message(kind, fields, more) for (kind, fields), more in frames], rest


def plain(value: object) -> Any:
    """Return a dataclass or a model as JSON has it."""
    return json_codec.loads(json_codec.dumps(value), max_depth=json_codec.MAX_DEPTH_STORED)


def typed(kind: type[T], value: Any) -> T:
    return type_adapter(kind).validate_python(value)


def run_message(batch_id: str, number: int, run: EncodedRun) -> Message:
    """Return a finished run as a message. The file of the run and its recording are bytes already."""
    recording = run.recording or {}
    entry = json_codec.dumps(run.entry)
    fields = {
        "batch_id": batch_id,
        "number": number,
        "entry": len(entry),
        "replay": run.replay,
        "faults": run.faults,
        "size": None if run.content is None else len(run.content),
        "questions": 0 if run.questions is None else len(run.questions),
        "recording": None if run.recording is None else [[name, len(file)] for name, file in recording.items()],
    }
    return Message("run", fields, b"".join([entry, run.content or b"", *recording.values(), run.questions or b""]))


def encoded_run(message: Message) -> EncodedRun:
    fields = message.fields
    entry_end = fields["entry"]
    start = entry_end + (fields["size"] or 0)
    content = None if fields["size"] is None else message.content[entry_end:start]
    recording: dict[str, bytes] | None = None if fields["recording"] is None else {}
    for name, size in fields["recording"] or ():
        recording = {**(recording or {}), name: message.content[start : start + size]}
        start += size
    entry = with_shared_results(typed(IndexEntry, json_codec.loads(message.content[:entry_end])))
    faults = [PermanentFault(*fault) for fault in fields["faults"]]
    questions = message.content[start:] if fields["questions"] else None
    return EncodedRun(entry, ReplayNote(*fields["replay"]), faults, content, recording, questions)
