"""/api/documents: the text of an uploaded file. PDF and Word files are read by a worker process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Query, Request

from salvo.engine.sandbox import workers
from salvo.errors import InputError
from salvo.playbooks.evaluate.inputs import key_warning
from salvo.web.disconnection import while_connected
from salvo.web.request_models import MAX_NAME_LENGTH
from salvo.web.responses import JsonRoute

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=JsonRoute)

SUFFIXES = (".txt", ".md", ".docx", ".pdf")
TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class DocumentText:
    name: str
    text: str
    characters: int
    pages: int | None
    """None if the format has no pages."""
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
) -> DocumentText:
    """Return the text of a .txt, .md, .docx or .pdf file. Nothing is stored."""
    content = await request.body()
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"Files of type “{suffix or name}” cannot be read.", hint=f"Upload {', '.join(SUFFIXES)}.")
    if suffix in (".txt", ".md"):
        text, pages = _decode(content), None
    else:
        reading = workers.in_killable_thread(_read_in_worker, suffix, content)
        text, pages = await while_connected(request, reading)
    warning = await asyncio.to_thread(key_warning, "The file", text)
    return DocumentText(name, text, len(text), pages, warning)


def _decode(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not UTF-8: byte {error.start} is invalid.", hint="Save it as UTF-8 and try again."
        ) from error


_PASTE = "Copy the text from the file and paste it."


def _read_in_worker(suffix: str, content: bytes) -> tuple[str, int | None]:
    answer = workers.run(suffix.removeprefix("."), "read", {}, content=content, seconds=TIMEOUT_SECONDS)
    if answer.timed_out:
        raise InputError("Reading the file takes too long.", hint=_PASTE)
    if answer.failure:
        raise InputError("The file cannot be read: it is damaged, or needs too much memory.", hint=_PASTE)
    [result] = answer.results
    if "problem" in result:
        raise InputError(result["problem"], hint=_PASTE)
    return result["text"], result["pages"]
