"""What a page is told while an evaluation goes on. An event's id is the number of the stored vote it tells of.

A watcher is told what is so, not what happened: one that is slow or comes back is told what it has not seen, and
nothing is kept for it meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from fastapi.sse import ServerSentEvent
from pydantic import TypeAdapter

from salvo.engine import jsontext
from salvo.web.answers import Problem
from salvo.web.jobs import Job, JobState, VoteSeen, Waiting


@dataclass(frozen=True, slots=True)
class Queued:
    position: int
    """How many evaluations are before this one, itself included."""


@dataclass(frozen=True, slots=True)
class Began:
    evaluator: str
    total: int
    """Questions in all: each judged check, each run of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where it is ("Running check 3/6, run 2/3"), and how many of all questions are answered."""

    text: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Ended:
    """With the report's id where there is a report, and the problem where it failed."""

    report_id: str | None
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Watching:
    place: str
    """The folder of the store that is watched."""


@dataclass(frozen=True, slots=True)
class Changed:
    batches: list[str]
    """The ids of those that are new, were changed or got runs."""


Told: TypeAlias = Queued | Began | Progress | VoteSeen | Waiting | Ended | Watching | Changed


def schemas() -> dict[str, Any]:
    """The JSON Schemas of what events carry in their data, for the API's description."""
    kinds = [(kind.__name__, "serialization", TypeAdapter(kind)) for kind in get_args(Told)]
    _, described = TypeAdapter.json_schemas(kinds, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]  # of several kinds
    found: dict[str, Any] = described["$defs"]
    return found


async def of_job(job: Job, after: int) -> AsyncIterator[ServerSentEvent]:
    """Everything a watcher has not seen, until it is over; `after` is the last vote that it has."""
    seen: dict[str, Told] = {}
    while True:
        changed, ended = job.changed, job.state.ended
        for name, told in list(_so_far(job, after)):
            if isinstance(told, VoteSeen):
                after = told.sequence
            elif seen.get(name) == told:
                continue
            seen[name] = told
            yield event(name, told)
        if ended:
            return
        if job.waiting is None:
            seen.pop("waiting", None)
        await changed.wait()


async def of_ended(
    state: JobState, report_id: str | None, votes: list[VoteSeen], problem: Problem | None
) -> AsyncIterator[ServerSentEvent]:
    for vote in votes:
        yield event("vote", vote)
        await asyncio.sleep(0)
    yield event(state, Ended(report_id, problem))


def event(name: str, told: Told) -> ServerSentEvent:
    number = str(told.sequence) if isinstance(told, VoteSeen) else None
    return ServerSentEvent(raw_data=_text(told), event=name, id=number)


def _so_far(job: Job, after: int) -> Iterator[tuple[str, Told]]:
    if job.position is not None:
        yield "queued", Queued(job.position)
    if job.state is not JobState.QUEUED:
        yield "began", Began(job.order.evaluator, job.total)
    yield from (("vote", vote) for vote in list(job.votes) if vote.sequence > after)
    if job.progress:
        yield "progress", Progress(job.progress, job.done, job.total)
    if job.waiting is not None:
        yield "waiting", job.waiting
    if job.state.ended:
        yield job.state, Ended(job.id if job.state is JobState.DONE else None, job.problem)


def _text(value: Any) -> str:
    """One line, whatever is in it: JSON escapes line ends."""
    return jsontext.dumps(value).decode()
