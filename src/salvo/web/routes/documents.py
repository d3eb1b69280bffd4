"""/api/documents: the text of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request

from salvo.web.documents import reader
from salvo.web.request_models import LONGEST_NAME
from salvo.web.responses import Json

router = APIRouter(prefix="/api/documents", tags=["documents"])


@dataclass(frozen=True, slots=True)
class DocumentText:
    name: str
    text: str
    characters: int
    pages: int | None
    """None where the format has none."""


@router.post(
    "",
    operation_id="readDocument",
    response_model=DocumentText,
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
    name: Annotated[
        str, Query(min_length=1, max_length=LONGEST_NAME, description="The file's name: .txt, .md, .docx or .pdf.")
    ],
) -> Json:
    """The text of a .txt, .md, .docx or .pdf file. Nothing is stored."""
    found = await reader.text_of(name, await request.body())
    return Json(DocumentText(name, found.text, len(found.text), found.pages))
