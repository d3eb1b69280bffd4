"""/api/documents: the text of an uploaded file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request

from salvo.web.documents import reader
from salvo.web.request_models import MAX_NAME_LENGTH
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=JsonRoute)


@dataclass(frozen=True, slots=True)
class DocumentText:
    name: str
    text: str
    characters: int
    pages: int | None
    """None if the format has no pages."""


@router.post(
    "",
    operation_id="readDocument",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The file itself.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def read(
    request: Request,
    services: ServicesDep,
    name: Annotated[
        str, Query(min_length=1, max_length=MAX_NAME_LENGTH, description="The file's name: .txt, .md, .docx or .pdf.")
    ],
) -> DocumentText:
    """Return the text of a .txt, .md, .docx or .pdf file. Nothing is stored."""
    document = await reader.extract_text(name, await request.body(), services.document_workers)
    return DocumentText(name, document.text, len(document.text), document.pages)
