"""/api/evaluations: asked for, watched, cancelled, resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header

from salvo.playbooks.enums import Mode, Severity
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.stored import stored_request
from salvo.playbooks.playbook.validate import playbook as validated
from salvo.playbooks.store.records import State, StoredEvaluation
from salvo.web import events
from salvo.web.jobs import BASE_URL, Job, JobState, VoteSeen, Waiting
from salvo.web.request_models import EvaluationCreate, EvaluationResume, check_key, desk_for
from salvo.web.responses import ConflictError, ErrorDetail, Json
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/evaluations", tags=["evaluations"])

Key = Annotated[
    str | None,
    Header(alias="X-API-Key", description="The provider's key: kept in memory for this evaluation alone."),
]
LOOK_AGAIN = 1.0
"""Seconds between two looks at an evaluation that another process runs."""


@dataclass(frozen=True, slots=True)
class CheckListed:
    check_id: str
    severity: Severity
    question: str
    judged: bool
    """Whether the evaluator is asked; the others are told in the report."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation as it stands. Its report has the same id."""

    id: str
    state: JobState
    created_at: str
    subject: str
    evaluator: str
    mode: Mode
    runs: int
    playbook_id: str
    playbook_version: str
    checks: tuple[CheckListed, ...]
    queue_position: int | None
    progress: str
    done: int
    total: int
    votes: tuple[VoteSeen, ...]
    waiting: Waiting | None
    report_id: str | None
    """Where the report is, once there is one."""
    resumable: bool
    """It has questions without an answer, and its texts are stored: it can be resumed."""
    needs_key: bool
    """Whether a key must be given with the resumption."""
    base_url: str | None
    """Where its questions go instead of to the provider's own address."""
    problem: ErrorDetail | None


@router.post("", status_code=202, operation_id="startEvaluation", response_model=Evaluation)
async def start(asked: EvaluationCreate, at: ServicesDep, key: Key = None) -> Json:
    """Begins an evaluation. Its events tell how it goes; its report is at /api/reports under the same id."""

    async def begin() -> Job:
        desk = desk_for(asked.evaluator, asked.base_url, key, at.settings)
        check_key(desk)
        order = await asyncio.to_thread(asked.order, desk)
        return await at.jobs.start(order, desk, in_full=not asked.hashes_only)

    job = await at.jobs.once(asked.client_token, lambda: asyncio.ensure_future(begin()))
    return Json(await _now(job.id, at), 202)


@router.get("/{evaluation_id}", operation_id="getEvaluation", response_model=Evaluation)
async def show(evaluation_id: str, at: ServicesDep) -> Json:
    """How it stands: state, place in line, progress, and the votes so far."""
    return Json(await _now(evaluation_id, at))


@router.post("/{evaluation_id}/cancel", operation_id="cancelEvaluation", response_model=Evaluation)
async def cancel(evaluation_id: str, at: ServicesDep) -> Json:
    """Ends it. What was judged is kept, and it can be resumed."""
    job = at.jobs.find(evaluation_id)
    if job is None:
        found = await _stored(evaluation_id, at)
        if found.state is JobState.RUNNING:
            raise ConflictError(
                f"The evaluation {found.id} runs in another process.", hint="End it where it was started."
            )
        raise ConflictError(f"The evaluation {found.id} is over: it is {found.state}.")
    await at.jobs.cancel(job)
    return Json(await _now(job.id, at))


@router.post("/{evaluation_id}/resume", status_code=202, operation_id="resumeEvaluation", response_model=Evaluation)
async def resume(
    evaluation_id: str, at: ServicesDep, asked: Annotated[EvaluationResume | None, Body()] = None, key: Key = None
) -> Json:
    """Asks what has no vote yet, at the same address unless another is named.

    A report that is incomplete stays as it is: a new evaluation takes over its votes.
    """
    stored = await asyncio.to_thread(at.load, evaluation_id)
    if at.jobs.find(stored.id) is not None:
        raise ConflictError(f"The evaluation {stored.id} is under way already.")
    other = asked.base_url if asked else None
    desk = desk_for(stored.evaluator, other or stored.settings.get(BASE_URL), key, at.settings)
    check_key(desk)
    order = await asyncio.to_thread(stored_request, stored)
    earlier = [
        (sequence, vote)
        for sequence, vote in await asyncio.to_thread(at.store.votes, stored.id)
        if vote.ballot.result is not None
    ]
    if stored.report is None:
        job = await at.jobs.go_on(Job(order, desk, stored.created_at, earlier=earlier))
    elif stored.report.incomplete:
        again = replace(order, report_id=desk.clock.new_id())
        job = await at.jobs.start(again, desk, earlier=[vote for _, vote in earlier])
    else:
        raise ConflictError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    return Json(await _now(job.id, at), 202)


@router.get(
    "/{evaluation_id}/events",
    operation_id="watchEvaluation",
    response_class=events.EventStream,
)
async def watch(
    evaluation_id: str,
    at: ServicesDep,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event that was received: what came after it is told.")
    ] = None,
) -> events.EventStream:
    """Server-sent events: queued, began, progress, vote, waiting; then one of done, failed, cancelled, interrupted.

    The id of a vote's event is the number of the stored vote: a lost connection goes on after its Last-Event-ID.
    """
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() and len(last_event_id) < 10 else 0
    job = at.jobs.find(evaluation_id)
    # Found before anything is sent, so that an unknown id is an error and not a stream of nothing.
    told = events.of_job(job, after) if job else _from_store(await _stored(evaluation_id, at), after, at)
    return events.stream(told)


async def _from_store(found: Evaluation, after: int, at: Services) -> AsyncIterator[bytes]:
    """Of one that this process does not run: what is stored, and what another process adds to it."""
    while True:
        for vote in found.votes:
            if vote.sequence > after:
                after = vote.sequence
                yield events.event("vote", vote)
        if found.state.ended:
            yield events.event(found.state, events.EndedEvent(found.report_id, found.problem))
            return
        yield events.event("progress", events.ProgressEvent(found.progress, found.done, found.total))
        await at.settings.clock.sleep(LOOK_AGAIN)
        found = await _stored(found.id, at)


async def _now(evaluation_id: str, at: Services) -> Evaluation:
    job = at.jobs.find(evaluation_id)
    return _of_job(job) if job is not None else await _stored(evaluation_id, at)


def _of_job(job: Job) -> Evaluation:
    return Evaluation(
        state=job.state,
        created_at=job.created_at,
        queue_position=job.position,
        progress=job.progress,
        done=job.done,
        total=job.total,
        votes=tuple(job.votes),
        waiting=job.waiting,
        report_id=None,
        resumable=False,
        problem=job.problem,
        base_url=job.base_url,
        **_asked_for(job.order),
    )


async def _stored(evaluation_id: str, at: Services) -> Evaluation:
    return await asyncio.to_thread(_of_store, evaluation_id, at)


def _of_store(evaluation_id: str, at: Services) -> Evaluation:
    stored = at.load(evaluation_id)
    votes = tuple(VoteSeen.of(sequence, vote) for sequence, vote in at.store.votes(stored.id))
    problem = at.jobs.problem(stored.id)
    if problem is None and (fault := stored.fault) is not None:
        problem = ErrorDetail(fault.code, fault.message, fault.hint)
    playbook = validated(stored.playbook, "The stored playbook")
    order = EvaluationRequest(
        stored.id, playbook, _NO_INPUTS, stored.evaluator, stored.mode, stored.runs, stored.subject, stored.producer
    )
    done = sum(vote.valid for vote in votes)
    return Evaluation(
        created_at=stored.created_at,
        state=JobState.FAILED if problem else JobState(stored.state),
        queue_position=None,
        progress=f"{done} of {len(order.cases)} questions are answered",
        done=done,
        total=len(order.cases),
        votes=votes,
        waiting=None,
        report_id=stored.id if stored.report is not None else None,
        resumable=_resumable(stored),
        problem=problem,
        base_url=stored.settings.get(BASE_URL),
        **_asked_for(order),
    )


_NO_INPUTS = Inputs("-")
"""For an order that is only counted."""


def _asked_for(order: EvaluationRequest) -> dict[str, Any]:
    return {
        "id": order.report_id,
        "subject": order.subject,
        "evaluator": order.evaluator,
        "mode": order.mode,
        "runs": order.runs,
        "playbook_id": order.playbook.id,
        "playbook_version": order.playbook.version,
        "checks": tuple(
            CheckListed(check.id, check.severity, check.question, check.judged) for check in order.playbook.checks
        ),
        "needs_key": order.evaluator != rules_judge.NAME,
    }


def _resumable(stored: StoredEvaluation) -> bool:
    if stored.inputs is None or stored.state is State.RUNNING:
        return False
    return stored.report is None or stored.report.incomplete
