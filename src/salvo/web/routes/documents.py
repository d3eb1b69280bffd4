"""/api/documents: the text of an uploaded file. PDF and Word files are read by another process, which can be killed."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Query, Request

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError
from salvo.web.request_models import MAX_NAME_LENGTH
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=JsonRoute)

SUFFIXES = (".txt", ".md", ".docx", ".pdf")
TIMEOUT_SECONDS = 20.0
MAX_WORKERS = 2
"""Files that are read at the same time; each may take a core and a gigabyte."""


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
    content = await request.body()
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"Files of type “{suffix or name}” cannot be read.", hint=f"Upload {', '.join(SUFFIXES)}.")
    if suffix in (".txt", ".md"):
        text, pages = _decode(content), None
    else:
        async with services.document_workers:
            text, pages = await _run_worker(suffix, content)
    return DocumentText(name, text, len(text), pages)


def _decode(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not UTF-8: byte {error.start} is invalid.", hint="Save it as UTF-8 and try again."
        ) from error


_PASTE = "Copy the text from the file and paste it."


async def _run_worker(suffix: str, content: bytes) -> tuple[str, int | None]:
    # -P: do not import modules from the current folder.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "salvo.web.document_worker", suffix),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            output, _ = await process.communicate(content)
    except TimeoutError:
        raise InputError("Reading the file takes too long.", hint=_PASTE) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise InputError("The file cannot be read: it is damaged, or needs too much memory.", hint=_PASTE)
    answer = json_codec.loads(output)
    if "problem" in answer:
        raise InputError(answer["problem"], hint=_PASTE)
    return answer["text"], answer["pages"]
