"""Extract the text of an uploaded file. PDF and Word files are read by another process, which can be killed."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import PurePath

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError

SUFFIXES = (".txt", ".md", ".docx", ".pdf")
MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
TIMEOUT_SECONDS = 20.0
MAX_WORKERS = 2
"""Files that are read at the same time; each may take a core and a gigabyte."""


@dataclass(frozen=True, slots=True)
class ExtractedText:
    text: str
    pages: int | None = None


async def extract_text(name: str, content: bytes, workers: asyncio.Semaphore) -> ExtractedText:
    """Return the text of the file, or raise InputError with the reason."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"Files of type “{suffix or name}” cannot be read.", hint=f"Upload {', '.join(SUFFIXES)}.")
    if suffix in (".txt", ".md"):
        return ExtractedText(_decode(content))
    async with workers:
        return await _run_worker(suffix, content)


def _decode(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"The file is not UTF-8: byte {error.start} is invalid.", hint="Save it as UTF-8 and try again."
        ) from error


async def _run_worker(suffix: str, content: bytes) -> ExtractedText:
    # -P: do not import modules from the current folder.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "salvo.web.documents.worker", suffix),
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
    return ExtractedText(answer["text"], answer["pages"])


_PASTE = "Copy the text from the file and paste it."
