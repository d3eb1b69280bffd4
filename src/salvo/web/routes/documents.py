"""/api/documents: the text of an uploaded file. PDF and Word files are read by a worker process."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import PurePath
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.sandbox import workers
from salvo.errors import InputError
from salvo.playbooks.evaluate.inputs import key_warning
from salvo.playbooks.evaluate.text_files import SUFFIXES, read_text_file
from salvo.records import record
from salvo.web.disconnection import while_connected
from salvo.web.request_models import MAX_NAME_LENGTH
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=JsonRoute)


@record
class DocumentText:
    name: str
    text: str
    characters: int
    pages: int | None
    """None if the format has no pages."""
    encoding: str | None
    """How the bytes of a text file were read: utf-8, utf-16 or windows-1252. None for other formats."""
    sha256: str
    """Of the file. Sent with an evaluation of this text (`file_hashes`), the report has it."""
    notices: tuple[str, ...]
    """What was assumed, such as the encoding, and what was left out, such as running headers."""
    warning: str | None
    """Set if the text seems to contain a credential; texts are not redacted."""


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
    name: Annotated[
        str, Query(min_length=1, max_length=MAX_NAME_LENGTH, description="The file's name: .txt, .md, .docx or .pdf.")
    ],
    services: ServicesDep,
    encoding: Annotated[
        Literal["windows-1252"] | None,
        Query(description="How to read a text file that is neither UTF-8 nor UTF-16. By default it is refused."),
    ] = None,
) -> DocumentText:
    """Return the text of a .txt, .md, .docx or .pdf file. Nothing is stored.

    The error `not_utf8` means that the file could be read with `encoding=windows-1252`.
    """
    content = await request.body()
    if PurePath(name).suffix.lower() not in SUFFIXES:
        raise InputError(f"{name} was not read: its name has another ending.", hint=f"Upload {', '.join(SUFFIXES)}.")
    reading = workers.in_killable_thread(partial(read_text_file, name, content, encoding=encoding))
    file = await while_connected(request, reading)
    warning = await asyncio.to_thread(key_warning, "The file", file.text)
    await asyncio.to_thread(services.read_files.add, name, file)
    return copy_fields(DocumentText, file, name=name, characters=len(file.text), warning=warning)
