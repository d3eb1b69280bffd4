"""What a page is told while an evaluation goes on. An event's id is the number of the stored vote it tells of.

A watcher is told what is so, not what happened: one that is slow or comes back is told what it has not seen, and
nothing is kept for it meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import TypeAdapter
from starlette.responses import StreamingResponse

from salvo.engine.jsonio import json_codec
from salvo.web.jobs import Job, JobState, VoteSeen, Waiting
from salvo.web.responses import ErrorDetail

SILENCE = 15.0
"""Seconds without news after which a watcher is told that there are none, lest something on the way hang up."""
NO_NEWS = KEEPALIVE_COMMENT


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    position: int
    """How many evaluations are before this one, itself included."""


@dataclass(frozen=True, slots=True)
class StartedEvent:
    evaluator: str
    total: int
    """Questions in all: each judged check, each run of it."""


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """Where it is ("Running check 3/6, run 2/3"), and how many of all questions are answered."""

    text: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class EndedEvent:
    """With the report's id where there is a report, and the problem where it failed."""

    report_id: str | None
    problem: ErrorDetail | None


@dataclass(frozen=True, slots=True)
class Watching:
    place: str
    """The folder of the store that is watched."""


@dataclass(frozen=True, slots=True)
class Changed:
    batches: list[str]
    """The ids of those that are new, were changed or got runs."""


Told: TypeAlias = QueuedEvent | StartedEvent | ProgressEvent | VoteSeen | Waiting | EndedEvent | Watching | Changed


class EventStream(StreamingResponse):
    """FastAPI's own would pass each event through two tasks and two queues, for every watcher."""

    media_type = "text/event-stream"


def stream(told: AsyncIterator[bytes]) -> EventStream:
    return EventStream(told, headers={"x-accel-buffering": "no"})  # a proxy would collect them


def schemas() -> dict[str, Any]:
    """The JSON Schemas of what events carry in their data, for the API's description."""
    kinds = [(kind.__name__, "serialization", TypeAdapter(kind)) for kind in get_args(Told)]
    _, described = TypeAdapter.json_schemas(kinds, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]  # of several kinds
    found: dict[str, Any] = described["$defs"]
    return found


async def of_job(job: Job, after: int) -> AsyncIterator[bytes]:
    """Everything a watcher has not seen, until it is over; `after` is the last vote that it has.

    What is new at one moment is sent as one piece: with many watchers, each piece is what costs.
    """
    seen: dict[str, Told] = {}
    while True:
        changed, ended = job.changed, job.state.ended
        news = []
        for name, told in _so_far(job, after):
            if isinstance(told, VoteSeen):
                after = told.sequence
            elif seen.get(name) == told:
                continue
            seen[name] = told
            news.append(event(name, told))
        if news:
            yield b"".join(news)
        if ended:
            return
        if job.waiting is None:
            seen.pop("waiting", None)
        while not await set_within(SILENCE, changed):
            yield NO_NEWS


def event(name: str, told: Told) -> bytes:
    number = str(told.sequence) if isinstance(told, VoteSeen) else None
    # One line, whatever is in it: JSON escapes line ends.
    return format_sse_event(data_str=json_codec.dumps(told).decode(), event=name, id=number)


async def set_within(seconds: float, changed: asyncio.Event) -> bool:
    """Whether it was set before so many seconds were over."""
    try:
        async with asyncio.timeout(seconds):
            return await changed.wait()
    except TimeoutError:
        return False


def _so_far(job: Job, after: int) -> Iterator[tuple[str, Told]]:
    if job.position is not None:
        yield "queued", QueuedEvent(job.position)
    if job.state is not JobState.QUEUED:
        yield "began", StartedEvent(job.order.evaluator, job.total)
    yield from (("vote", vote) for vote in list(job.votes) if vote.sequence > after)
    if job.progress:
        yield "progress", ProgressEvent(job.progress, job.done, job.total)
    if job.waiting is not None:
        yield "waiting", job.waiting
    if job.state.ended:
        yield job.state, EndedEvent(job.id if job.state is JobState.DONE else None, job.problem)
