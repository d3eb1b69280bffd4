"""/api/document-batches: many documents at once, their matrix, and what is done to all of them."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from salvo.errors import SalvoError
from salvo.playbooks.documents import matrix_files
from salvo.playbooks.documents.batch_store import BatchEntry
from salvo.playbooks.documents.matrix import (
    CheckColumn,
    DocumentBatch,
    DocumentMatrix,
    DocumentRow,
    MatrixTotals,
    UnreadDocument,
    summary,
)
from salvo.playbooks.evaluate.request import DEFAULT_SUBJECT
from salvo.playbooks.store.queueing.leases import TYPED_KEY
from salvo.playbooks.store.records import ErrorDetail
from salvo.records import record
from salvo.web.request_models import Limit, Name, Offset, RequestModel, needs_key
from salvo.web.responses import ConflictError, JsonRoute, error_detail, file_response, file_route
from salvo.web.routes import evaluations
from salvo.web.routes.evaluations import Key
from salvo.web.services import ClientDep, Services, ServicesDep, UserDep

router = APIRouter(prefix="/api/document-batches", tags=["documents"], route_class=JsonRoute)


class BatchCreate(RequestModel, json_schema_extra={"examples": [{"title": "Letters of May", "planned": 20}]}):
    """Documents that are about to be evaluated. Each is then started with the batch's id as `batch_id`."""

    title: Name
    subject: Name = Field(DEFAULT_SUBJECT, description="The subject of the evaluations.")
    planned: int = Field(ge=1, le=1000, description="How many documents there will be.")


class UnreadCreate(RequestModel, json_schema_extra={"examples": [{"file_name": "a.pdf", "message": "No text."}]}):
    file_name: Name
    message: Name = Field(description="Why the file could not be read.")


@record
class BatchesPage:
    entries: tuple[BatchEntry, ...]
    """The newest first."""
    total: int
    offset: int
    limit: int


@record
class BatchMatrix:
    """The documents of a batch, with the results of their checks so far."""

    batch: DocumentBatch
    checks: tuple[CheckColumn, ...]
    rows: tuple[DocumentRow, ...]
    totals: MatrixTotals
    summary: str
    """The totals in a sentence."""
    resumable: int
    """How many documents ended without all of their votes."""
    needs_key: bool
    """Whether resuming them needs an API key."""
    problem: ErrorDetail | None = None
    """Why some of them could not be cancelled or resumed, if so."""


class MatrixFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    HTML = "html"


_MEDIA_TYPES = {MatrixFormat.CSV: "text/csv", MatrixFormat.JSON: "application/json", MatrixFormat.HTML: "text/html"}


@router.post("", status_code=201, operation_id="createDocumentBatch")
def create(body: BatchCreate, services: ServicesDep) -> DocumentBatch:
    """Announce documents that will be evaluated together."""
    clock = services.settings.clock
    created_at = clock.now().isoformat(timespec="milliseconds")
    batch = DocumentBatch(clock.new_id(), created_at, body.title, body.subject, body.planned)
    services.store.batches.create(batch)
    return batch


@router.get("", operation_id="listDocumentBatches")
def index(
    services: ServicesDep,
    limit: Limit = 20,
    offset: Offset = 0,
) -> BatchesPage:
    """Return the batches, the newest first."""
    page = services.store.batches.page(limit=limit, offset=offset)
    return BatchesPage(tuple(page.entries), page.total, offset, limit)


@router.get("/{batch_id}", operation_id="getDocumentBatch")
def show(batch_id: str, services: ServicesDep) -> BatchMatrix:
    """Return the matrix of documents and checks."""
    return _detail(services.store.batches.matrix(batch_id), services)


@router.post("/{batch_id}/unread", status_code=204, operation_id="addUnreadDocument")
def add_unread(batch_id: str, body: UnreadCreate, services: ServicesDep) -> Response:
    """Record a file that could not be read, so that the matrix names it."""
    services.store.batches.add_unread(batch_id, UnreadDocument(body.file_name, body.message))
    return Response(status_code=204)


@router.post("/{batch_id}/cancel", operation_id="cancelDocumentBatch")
async def cancel(batch_id: str, services: ServicesDep, user: UserDep) -> BatchMatrix:
    """Stop every document that runs or waits. The votes are kept, and all can be resumed."""
    matrix = await asyncio.to_thread(services.store.batches.matrix, batch_id)
    problem = None
    for row in reversed(matrix.rows):  # those that wait before those that run: otherwise they would begin meanwhile
        if row.is_open:
            try:
                await evaluations.cancel(row.evaluation_id, services, user)
            except ConflictError:
                continue  # it has ended meanwhile, or a command runs it
            except SalvoError as error:
                problem = error_detail(error)
    return await _show(batch_id, services, problem)


@router.post("/{batch_id}/resume", status_code=202, operation_id="resumeDocumentBatch")
async def resume(
    batch_id: str, services: ServicesDep, client: ClientDep, user: UserDep, key: Key = None
) -> BatchMatrix:
    """Continue every document that ended without all of its votes."""
    matrix = await asyncio.to_thread(services.store.batches.matrix, batch_id)
    problem = None
    for row in matrix.rows:
        if row.is_resumable:
            try:
                await evaluations.resume(row.evaluation_id, services, client, user, key=key)
            except SalvoError as error:  # the others may be possible
                problem = error_detail(error)
    return await _show(batch_id, services, problem)


@router.get(
    "/{batch_id}/export",
    operation_id="exportDocumentBatch",
    **file_route(*_MEDIA_TYPES.values()),
)
def export(
    batch_id: str,
    services: ServicesDep,
    export_format: Annotated[MatrixFormat, Query(alias="format")] = MatrixFormat.CSV,
) -> Response:
    """Return the matrix as a file. No cell of the CSV is a formula."""
    matrix = services.store.batches.matrix(batch_id)
    content = matrix_files.RENDERERS[f".{export_format}"](matrix).encode("utf-8", "backslashreplace")
    media_type = f"{_MEDIA_TYPES[export_format]}; charset=utf-8"
    return file_response(content, f"byop-{matrix.batch.id}.{export_format}", media_type)


@router.delete("/{batch_id}", status_code=204, operation_id="deleteDocumentBatch")
def delete(batch_id: str, services: ServicesDep, user: UserDep) -> Response:
    """Delete the batch and all of its evaluations: their texts, votes and reports. The audit log stays."""
    matrix = services.store.batches.matrix(batch_id)
    if any(row.is_open for row in matrix.rows):
        raise ConflictError("Documents of the batch are running or waiting.", hint="Cancel them first.")
    for evaluation_id in services.store.batches.members(batch_id):
        services.store.delete(evaluation_id, by=user.authenticated_name, authenticated=user.authenticated)
    services.store.batches.delete(batch_id)
    return Response(status_code=204)


async def _show(batch_id: str, services: Services, problem: ErrorDetail | None) -> BatchMatrix:
    matrix = await asyncio.to_thread(services.store.batches.matrix, batch_id)
    return await asyncio.to_thread(_detail, matrix, services, problem)


def _detail(matrix: DocumentMatrix, services: Services, problem: ErrorDetail | None = None) -> BatchMatrix:
    stopped = [row for row in matrix.rows if row.is_resumable]
    key_needed = any(row.requirement == TYPED_KEY or needs_key(row.evaluator, services.settings) for row in stopped)
    return BatchMatrix(
        matrix.batch, matrix.checks, matrix.rows, matrix.totals, summary(matrix), len(stopped), key_needed, problem
    )
