"""/api/evaluations: start, watch, cancel and resume evaluations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Mode, Severity
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.request import EvaluationRequest, stored_request
from salvo.playbooks.playbook.validate import stored_playbook
from salvo.playbooks.store.records import ErrorDetail, State
from salvo.web import events
from salvo.web.jobs import Job, JobState, OpenCallsNotice, RetryNotice, VoteSummary
from salvo.web.request_models import EvaluationCreate, EvaluationResume, check_key, evaluator_config
from salvo.web.responses import ConflictError, JsonRoute
from salvo.web.services import Services, ServicesDep

router = APIRouter(prefix="/api/evaluations", tags=["evaluations"], route_class=JsonRoute)

POLL_SECONDS = 1.0
"""Between two looks at an evaluation that another process runs."""
Key = Annotated[
    str | None,
    Header(alias="X-API-Key", description="The provider's API key. It is kept in memory for this evaluation only."),
]


@dataclass(frozen=True, slots=True)
class CheckSummary:
    check_id: str
    severity: Severity
    question: str
    judged: bool
    """Whether the evaluator answers it; the report computes the others."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The current state of an evaluation. Its report has the same id."""

    id: str
    state: JobState
    created_at: str
    subject: str
    evaluator: str
    mode: Mode
    runs: int
    playbook_id: str
    playbook_version: str
    checks: tuple[CheckSummary, ...]
    queue_position: int | None
    progress: str
    done: int
    total: int
    votes: list[VoteSummary]
    waiting: RetryNotice | None
    open_calls: OpenCallsNotice | None
    """None if no model is called, or another process runs the evaluation."""
    report_id: str | None
    """None until there is a report."""
    resumable: bool
    """Whether it has unanswered questions and its texts are stored."""
    needs_key: bool
    """Whether resuming it needs an API key."""
    base_url: str | None
    """The address of the model, if it is not the provider's own."""
    problem: ErrorDetail | None
    warnings: tuple[str, ...]
    """One for each text that seems to contain a credential; texts are not redacted. They are given where and while
    the evaluation is started and runs, and not stored."""


@router.post("", status_code=202, operation_id="startEvaluation")
async def start(body: EvaluationCreate, services: ServicesDep, key: Key = None) -> Evaluation:
    """Start an evaluation. Its events report the progress; its report is at /api/reports under the same id."""

    async def start_job() -> Job:
        config = evaluator_config(body.evaluator, body.base_url, key, services.settings, timeout=body.timeout)
        check_key(config)
        request = await in_killable_thread(body.to_request, config, services.read_files)
        warnings = await asyncio.to_thread(body.key_warnings)
        return await services.jobs.start(request, config, in_full=not body.hashes_only, warnings=warnings)

    job = await services.jobs.start_once(body.client_token, start_job)
    return replace(await show(job.id, services), warnings=job.warnings)  # it may have ended already


@router.get("/{evaluation_id}", operation_id="getEvaluation")
async def show(evaluation_id: str, services: ServicesDep) -> Evaluation:
    """Return the state, queue position, progress and votes of an evaluation."""
    job = services.jobs.find(evaluation_id)
    if job is None:
        return await _stored_evaluation(evaluation_id, services)
    return copy_fields(Evaluation, job, report_id=None, resumable=False, **_request_fields(job.request))


@router.post("/{evaluation_id}/cancel", operation_id="cancelEvaluation")
async def cancel(evaluation_id: str, services: ServicesDep) -> Evaluation:
    """Stop an evaluation. Its votes are kept, and it can be resumed."""
    job = services.jobs.find(evaluation_id)
    if job is None:
        stored = await _stored_evaluation(evaluation_id, services)
        if stored.state is JobState.RUNNING:
            raise ConflictError(
                f"The evaluation {stored.id} runs in another process.", hint="Cancel it where it was started."
            )
        raise ConflictError(f"The evaluation {stored.id} has ended: it is {stored.state}.")
    await services.jobs.cancel(job)
    return await show(job.id, services)


@router.post("/{evaluation_id}/resume", status_code=202, operation_id="resumeEvaluation")
async def resume(
    evaluation_id: str,
    services: ServicesDep,
    body: Annotated[EvaluationResume | None, Body()] = None,
    key: Key = None,
) -> Evaluation:
    """Ask the questions that have no vote yet, at the same address unless the request names another one.

    An incomplete report stays as it is: a new evaluation takes over its votes.
    """
    stored = await asyncio.to_thread(services.load, evaluation_id)
    if services.jobs.find(stored.id) is not None:
        raise ConflictError(f"The evaluation {stored.id} is running already.")
    base_url = (body.base_url if body else None) or stored.settings.get("base_url")
    timeout = (body.timeout if body else None) or stored.settings.get("timeout")
    config = evaluator_config(stored.evaluator, base_url, key, services.settings, timeout=timeout)
    check_key(config)
    request = await asyncio.to_thread(stored_request, stored)
    votes = [
        (sequence, vote)
        for sequence, vote in await asyncio.to_thread(services.store.votes, stored.id)
        if vote.answer.result is not None
    ]
    if stored.report is None:
        job = await asyncio.to_thread(Job, request, stored.created_at, config, votes)
        await services.jobs.resume(job, config)
    elif stored.report.incomplete:
        new_request = replace(request, report_id=config.clock.new_id())
        job = await services.jobs.start(new_request, config, earlier_votes=[vote for _, vote in votes])
    else:
        raise ConflictError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    return await show(job.id, services)


@router.get("/{evaluation_id}/events", operation_id="watchEvaluation", response_class=events.EventStream)
async def watch(
    evaluation_id: str,
    services: ServicesDep,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event that was received. Later events are sent.")
    ] = None,
) -> events.EventStream:
    """Send events: queued, began, progress, vote, waiting, calls; then one of done, failed, cancelled, interrupted.

    The id of a vote's event is the number of the stored vote, so a lost connection continues after its Last-Event-ID.
    """
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() and len(last_event_id) < 10 else 0
    job = services.jobs.find(evaluation_id)
    if job is not None:
        return events.stream(events.job_events(job, after))
    stored = await _stored_evaluation(evaluation_id, services)  # before the stream starts, so that 404 can be sent
    return events.stream(_stored_events(stored, after, services))


async def _stored_events(evaluation: Evaluation, after: int, services: Services) -> AsyncIterator[bytes]:
    """Yield the events of an evaluation that another process runs, or that has ended."""
    while True:
        for vote in evaluation.votes:
            if vote.sequence > after:
                after = vote.sequence
                yield events.event("vote", vote)
        if evaluation.state.is_final:
            yield events.event(evaluation.state, events.EndedEvent(evaluation.report_id, evaluation.problem))
            return
        progress = events.ProgressEvent(evaluation.progress, evaluation.done, evaluation.total)
        yield events.event("progress", progress)
        await services.settings.clock.sleep(POLL_SECONDS)
        evaluation = await _stored_evaluation(evaluation.id, services)


async def _stored_evaluation(evaluation_id: str, services: Services) -> Evaluation:
    return await asyncio.to_thread(_load_evaluation, evaluation_id, services)


def _load_evaluation(evaluation_id: str, services: Services) -> Evaluation:
    stored = services.load(evaluation_id)
    votes = [VoteSummary.from_vote(sequence, vote) for sequence, vote in services.store.votes(stored.id)]
    problem = services.jobs.problem(stored.id) or stored.error
    playbook = stored_playbook(stored.playbook)
    request = EvaluationRequest(
        stored.id, playbook, _NO_INPUTS, stored.evaluator, stored.mode, stored.runs, stored.subject, stored.producer
    )
    is_complete = stored.report is not None and not stored.report.incomplete
    answered = sum(vote.valid for vote in votes)
    return Evaluation(
        created_at=stored.created_at,
        state=JobState.FAILED if problem else JobState(stored.state),
        queue_position=None,
        progress=f"{answered} of {pluralize(len(request.cases), 'question')} answered",
        done=answered,
        total=len(request.cases),
        votes=votes,
        waiting=None,
        open_calls=None,
        report_id=stored.id if stored.report is not None else None,
        resumable=stored.inputs is not None and stored.state is not State.RUNNING and not is_complete,
        problem=problem,
        warnings=(),
        base_url=stored.settings.get("base_url"),
        **_request_fields(request),
    )


_NO_INPUTS = Inputs("-")
"""The questions can be counted without the texts, which may not be stored."""


def _request_fields(request: EvaluationRequest) -> dict[str, Any]:
    return {
        "id": request.report_id,
        "subject": request.subject,
        "evaluator": request.evaluator,
        "mode": request.mode,
        "runs": request.runs,
        "playbook_id": request.playbook.id,
        "playbook_version": request.playbook.version,
        "checks": tuple(
            CheckSummary(check.id, check.severity, check.question, check.needs_judge)
            for check in request.playbook.checks
        ),
        "needs_key": request.evaluator != rules_judge.NAME,
    }
