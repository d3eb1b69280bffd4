"""Server-sent events. The id of a vote's event is the number of the stored vote.

A watcher receives the current state, not a log of changes: one that is slow or reconnects gets what it has not seen,
and the server buffers nothing for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import TypeAdapter
from starlette.responses import StreamingResponse

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.pool import is_set_within
from salvo.playbooks.store.records import ErrorDetail
from salvo.records import record
from salvo.web.jobs.job import Job, JobState, OpenCallsNotice, RetryNotice, VoteSummary

KEEPALIVE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that no proxy closes the connection."""


@record
class QueuedEvent:
    position: int | None
    """The position in the queue of all servers; the first is 1. None if it waits to be taken over by a server."""


@record
class StartedEvent:
    evaluator: str
    total: int
    """The number of questions: every judged check times the number of runs."""


@record
class ProgressEvent:
    text: str
    """The current step: "Running check 3/6, run 2/3"."""
    done: int
    """How many of all questions are answered."""
    total: int


@record
class EndedEvent:
    report_id: str | None
    """None if there is no report."""
    problem: ErrorDetail | None
    """Why the evaluation failed, if it did."""


@record
class WatchingEvent:
    place: str
    """The folder of the store that is watched."""


@record
class BatchesChangedEvent:
    batches: list[str]
    """The ids of batches that are new, have changed or have new runs."""


EventPayload: TypeAlias = (
    QueuedEvent
    | StartedEvent
    | ProgressEvent
    | VoteSummary
    | RetryNotice
    | OpenCallsNotice
    | EndedEvent
    | WatchingEvent
    | BatchesChangedEvent
)


class EventStream(StreamingResponse):
    """FastAPI's own event response would pass each event through two tasks and two queues per watcher."""

    media_type = "text/event-stream"


def stream(events: AsyncIterator[bytes]) -> EventStream:
    return EventStream(events, headers={"x-accel-buffering": "no"})  # a proxy must not buffer them


def schemas() -> dict[str, Any]:
    """Return the JSON Schemas of the events' data, for the API description."""
    payloads = [(payload.__name__, "serialization", TypeAdapter(payload)) for payload in get_args(EventPayload)]
    _, schema = TypeAdapter.json_schemas(payloads, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]  # adapters of several types
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


@dataclass(slots=True)
class Watcher:
    """What one watcher has been sent."""

    after: int
    """The number of the last vote."""
    last_sent: dict[str, EventPayload] = field(default_factory=dict)

    def news(self, current: Iterable[tuple[str, EventPayload]]) -> bytes:
        """Return what the watcher has not been sent. All of it at once: with many watchers each write is expensive."""
        news = []
        for name, payload in current:
            if isinstance(payload, VoteSummary):
                if payload.sequence <= self.after:
                    continue
                self.after = payload.sequence
            elif self.last_sent.get(name) == payload:
                continue
            self.last_sent[name] = payload
            news.append(event(name, payload))
        return b"".join(news)


async def job_events(job: Job, watcher: Watcher) -> AsyncIterator[bytes]:
    """Yield what the watcher has not been sent, until the job ends or leaves this server."""
    while True:
        changed, is_over = job.changed, job.state.is_final or job.finished.is_set()
        if news := watcher.news(_current_events(job)):
            yield news
        if is_over:
            return
        if job.waiting is None:
            watcher.last_sent.pop("waiting", None)
        while not await is_set_within(KEEPALIVE_SECONDS, changed):
            yield KEEPALIVE_COMMENT


def event(name: str, payload: EventPayload) -> bytes:
    event_id = str(payload.sequence) if isinstance(payload, VoteSummary) else None
    return format_sse_event(data_str=json_codec.dumps(payload).decode(), event=name, id=event_id)


def _current_events(job: Job) -> Iterator[tuple[str, EventPayload]]:
    if job.queue_position is not None:
        yield "queued", QueuedEvent(job.queue_position)
    if job.state is not JobState.QUEUED:
        yield "began", StartedEvent(job.request.evaluator, job.total)
    yield from (("vote", vote) for vote in list(job.votes))
    if job.progress:
        yield "progress", ProgressEvent(job.progress, job.done, job.total)
    if job.waiting is not None:
        yield "waiting", job.waiting
    if job.open_calls is not None:
        yield "calls", job.open_calls
    if job.state.is_final:
        yield job.state, EndedEvent(job.id if job.state is JobState.DONE else None, job.problem)
