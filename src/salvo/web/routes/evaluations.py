"""/api/evaluations: start, watch, cancel and resume evaluations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.formatting import pluralize
from salvo.errors import MissingKeyError
from salvo.playbooks.enums import Mode, Severity
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.request import EvaluationRequest, requested_by, stored_request
from salvo.playbooks.playbook.validate import stored_playbook
from salvo.playbooks.report.report import DocumentIdentity
from salvo.playbooks.store.queueing.leases import TYPED_KEY
from salvo.playbooks.store.records import ErrorDetail, State, StoredEvaluation
from salvo.records import record
from salvo.web import events
from salvo.web.jobs import requirements
from salvo.web.jobs.job import JobState, OpenCallsNotice, RetryNotice, VoteSummary
from salvo.web.request_models import EvaluationCreate, EvaluationResume, check_key, evaluator_config, needs_key
from salvo.web.responses import ConflictError, JsonRoute
from salvo.web.services import ClientDep, Services, ServicesDep, UserDep

router = APIRouter(prefix="/api/evaluations", tags=["evaluations"], route_class=JsonRoute)

POLL_SECONDS = 1.0
"""Between two looks at an evaluation that another process runs."""
Key = Annotated[
    str | None,
    Header(alias="X-API-Key", description="The provider's API key. It is kept in memory for this evaluation only."),
]


@record
class CheckSummary:
    check_id: str
    severity: Severity
    question: str
    judged: bool
    """Whether the evaluator answers it; the report computes the others."""


@record
class Evaluation:
    """The current state of an evaluation. Its report has the same id."""

    id: str
    state: JobState
    created_at: str
    subject: str
    document_identity: DocumentIdentity | None
    """What the document is called, and its file; None if nothing of it was recorded."""
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
    waits_for: str | None
    """A sentence that says what it needs to continue, if it needs something."""
    base_url: str | None
    """The address of the model, if it is not the provider's own."""
    problem: ErrorDetail | None
    warnings: tuple[str, ...]
    """One for each text that seems to contain a credential; texts are not redacted. They are given where and while
    the evaluation is started and runs, and not stored."""


@router.post("", status_code=202, operation_id="startEvaluation")
async def start(
    body: EvaluationCreate, services: ServicesDep, client: ClientDep, user: UserDep, key: Key = None
) -> Evaluation:
    """Start an evaluation. Its events report the progress; its report is at /api/reports under the same id."""
    token = body.client_token
    evaluation_id = None if token is None else await asyncio.to_thread(services.store.queue.find_token, token)
    warnings = await asyncio.to_thread(body.key_warnings)
    if evaluation_id is None:
        config = evaluator_config(body.evaluator, body.base_url, key, services.settings, timeout=body.timeout)
        check_key(config)
        request = await in_killable_thread(body.to_request, config, services.read_files, services.store.saved_playbooks)
        request = requested_by(request, user.authenticated_name)
        if body.batch_id is not None:
            await asyncio.to_thread(services.store.batches.check, body.batch_id)
        evaluation_id = await services.jobs.start(
            request,
            config,
            client=client,
            user=user.authenticated_name,
            token=token,
            in_full=not body.hashes_only,
            group=body.batch_id,
        )
    return replace(await show(evaluation_id, services), warnings=warnings)


@router.get("/{evaluation_id}", operation_id="getEvaluation")
async def show(evaluation_id: str, services: ServicesDep) -> Evaluation:
    """Return the state, queue position, progress and votes of an evaluation."""
    job = services.jobs.find(evaluation_id)
    if job is None:
        return await _stored_evaluation(evaluation_id, services)
    unset = {"report_id": None, "resumable": False, "waits_for": None, "warnings": ()}
    return copy_fields(Evaluation, job, **unset, **_request_fields(job.request, services))


@router.post("/{evaluation_id}/cancel", operation_id="cancelEvaluation")
async def cancel(evaluation_id: str, services: ServicesDep, user: UserDep) -> Evaluation:
    """Stop an evaluation. Its votes are kept, and it can be resumed."""
    job = services.jobs.find(evaluation_id)
    if job is not None:
        await services.jobs.cancel(job, user=user.authenticated_name)
        return await show(job.id, services)
    stored = await asyncio.to_thread(services.load, evaluation_id)
    if stored.state not in (State.RUNNING, State.QUEUED):
        raise ConflictError(f"The evaluation {stored.id} has ended: it is {stored.state}.")
    if stored.client is None:
        raise ConflictError(
            f"The evaluation {stored.id} runs in another process.", hint="Cancel it where it was started."
        )
    # The server that runs it notices within seconds.
    await asyncio.to_thread(services.store.cancel, stored.id, user=user.authenticated_name)
    services.changes.notify(stored.id)
    return await show(stored.id, services)


@router.post("/{evaluation_id}/resume", status_code=202, operation_id="resumeEvaluation")
async def resume(
    evaluation_id: str,
    services: ServicesDep,
    client: ClientDep,
    user: UserDep,
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
    if stored.requirement == TYPED_KEY and key is None and config.endpoint is not None and config.endpoint.key:
        raise MissingKeyError(
            f"The evaluation {stored.id} was started with a key that was typed, not with the one of this server.",
            hint="Send the key again in the X-API-Key header.",
        )
    check_key(config)
    request = await asyncio.to_thread(stored_request, stored)
    votes = [
        (sequence, vote)
        for sequence, vote in await asyncio.to_thread(services.store.votes, stored.id)
        if vote.answer.result is not None
    ]
    if stored.report is None:
        await services.jobs.resume(
            request,
            config,
            client=client,
            user=user.authenticated_name,
            created_at=stored.created_at,
            earlier_votes=votes,
            group=stored.group,
        )
        return await show(stored.id, services)
    if not stored.report.incomplete:
        raise ConflictError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    new_request = replace(request, report_id=config.clock.new_id())
    earlier = [vote for _, vote in votes]
    name = user.authenticated_name
    new_id = await services.jobs.start(
        new_request, config, client=client, user=name, earlier_votes=earlier, group=stored.group
    )
    return await show(new_id, services)


@router.get("/{evaluation_id}/events", operation_id="watchEvaluation", response_class=events.EventStream)
async def watch(
    evaluation_id: str,
    services: ServicesDep,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event that was received. Later events are sent.")
    ] = None,
) -> events.EventStream:
    """Send events: queued, began, progress, vote, waiting, calls; then the state in which it ended, such as done.

    The id of a vote's event is the number of the stored vote, so a lost connection continues after its Last-Event-ID.
    """
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() and len(last_event_id) < 10 else 0
    job = services.jobs.find(evaluation_id)
    if job is None:
        evaluation_id = (
            await _stored_evaluation(evaluation_id, services)
        ).id  # before the stream, so that it can be 404
    return events.stream(_events(evaluation_id, events.Watcher(after), services))


async def _events(evaluation_id: str, watcher: events.Watcher, services: Services) -> AsyncIterator[bytes]:
    """Yield the events of an evaluation, wherever it runs: another server may take it over, or this one."""
    while not services.closing.is_set():
        job = services.jobs.find(evaluation_id)
        if job is not None:
            async for news in events.job_events(job, watcher):
                yield news
            if job.state.is_final:
                return
        evaluation = await _stored_evaluation(evaluation_id, services)
        if news := watcher.news(_current_events(evaluation)):
            yield news
        if evaluation.state.is_final:
            return
        if services.jobs.find(evaluation_id) in (None, job):
            await services.changes.wait(evaluation_id, POLL_SECONDS)


def _current_events(evaluation: Evaluation) -> Iterator[tuple[str, events.EventPayload]]:
    """Return the events of an evaluation that another process runs, that waits for one, or that has ended."""
    yield from (("vote", vote) for vote in evaluation.votes)
    if evaluation.state.is_final:
        yield evaluation.state, events.EndedEvent(evaluation.report_id, evaluation.problem)
    elif evaluation.state is JobState.QUEUED:
        yield "queued", events.QueuedEvent(evaluation.queue_position)
    else:
        yield "progress", events.ProgressEvent(evaluation.progress, evaluation.done, evaluation.total)


async def _stored_evaluation(evaluation_id: str, services: Services) -> Evaluation:
    return await asyncio.to_thread(_load_evaluation, evaluation_id, services)


def _load_evaluation(evaluation_id: str, services: Services) -> Evaluation:
    stored = services.load(evaluation_id)
    votes = [VoteSummary.from_vote(sequence, vote) for sequence, vote in services.store.votes(stored.id)]
    problem = services.jobs.problem(stored.id) or stored.error
    playbook = stored_playbook(stored.playbook)
    request = EvaluationRequest(
        stored.id,
        playbook,
        _NO_INPUTS,
        stored.evaluator,
        stored.mode,
        stored.runs,
        stored.subject,
        stored.producer,
        stored.document_identity,
    )
    is_complete = stored.report is not None and not stored.report.incomplete
    answered = sum(vote.valid for vote in votes)
    return Evaluation(
        created_at=stored.created_at,
        state=JobState.FAILED if problem else JobState(stored.state),
        queue_position=services.store.queue.position(stored.id) if stored.state is State.QUEUED else None,
        progress=f"{answered} of {pluralize(len(request.cases), 'question')} answered",
        done=answered,
        total=len(request.cases),
        votes=votes,
        waiting=None,
        open_calls=None,
        report_id=stored.id if stored.report is not None else None,
        resumable=stored.inputs is not None and stored.state not in _UNFINISHED and not is_complete,
        waits_for=_waits_for(stored, services),
        problem=problem,
        warnings=(),
        base_url=stored.settings.get("base_url"),
        **_request_fields(request, services, typed_key=stored.requirement == TYPED_KEY),
    )


_UNFINISHED = (State.RUNNING, State.QUEUED, State.BATCHED)
_BATCH_SENTENCE = (
    "The questions were sent to the provider's batch API, which answers within a day. Whoever started the evaluation "
    "completes it with byop collect."
)


def _waits_for(stored: StoredEvaluation, services: Services) -> str | None:
    if stored.state is State.BATCHED:
        return _BATCH_SENTENCE
    if stored.state is State.INTERRUPTED and stored.requirement == TYPED_KEY:
        return requirements.KEY_SENTENCE
    if stored.state is State.QUEUED and stored.requirement not in (None, TYPED_KEY):
        return None if services.jobs.can_run(stored.requirement) else requirements.missing_sentence(stored.requirement)
    return None


_NO_INPUTS = Inputs("-")
"""The questions can be counted without the texts, which may not be stored."""


def _request_fields(request: EvaluationRequest, services: Services, *, typed_key: bool = False) -> dict[str, Any]:
    return {
        "id": request.report_id,
        "subject": request.subject,
        "document_identity": request.document_identity,
        "evaluator": request.evaluator,
        "mode": request.mode,
        "runs": request.runs,
        "playbook_id": request.playbook.id,
        "playbook_version": request.playbook.version,
        "checks": tuple(
            CheckSummary(check.id, check.severity, check.question, check.needs_judge)
            for check in request.playbook.checks
        ),
        "needs_key": typed_key or needs_key(request.evaluator, services.settings),
    }
