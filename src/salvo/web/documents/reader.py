"""The text of a file that somebody gives us: read by another process, which may be ended at any time."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import PurePath

from salvo.engine.jsonio import json_codec
from salvo.errors import InputError

SUFFIXES = (".txt", ".md", ".docx", ".pdf")
LARGEST_DOCUMENT = 20 * 1024 * 1024
"""Bytes."""
LONGEST_READING = 20.0
"""Seconds."""
AT_ONCE = 2
"""Files that are read at the same time; each may take a core and a gigabyte."""


@dataclass(frozen=True, slots=True)
class ExtractedText:
    text: str
    pages: int | None = None


async def text_of(name: str, content: bytes) -> ExtractedText:
    """InputError says why there is none."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"Files of the kind “{suffix or name}” cannot be read.", hint=f"Give {', '.join(SUFFIXES)}.")
    if suffix in (".txt", ".md"):
        return ExtractedText(_decoded(content))
    async with _turns():
        return await _read_apart(suffix, content)


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as fault:
        raise InputError(
            f"The file is not UTF-8: byte {fault.start} does not belong there.", hint="Save it as UTF-8 and try again."
        ) from fault


async def _read_apart(suffix: str, content: bytes) -> ExtractedText:
    # -P: a file in the current folder is not to be taken for a library.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "salvo.web.documents.worker", suffix),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(LONGEST_READING):
            said, _ = await process.communicate(content)
    except TimeoutError:
        raise InputError("The file takes too long to read.", hint=_PASTE) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise InputError("The file cannot be read: it is damaged, or takes too much memory.", hint=_PASTE)
    answer = json_codec.loads(said)
    if "problem" in answer:
        raise InputError(answer["problem"], hint=_PASTE)
    return ExtractedText(answer["text"], answer["pages"])


_PASTE = "Copy the text out of it and paste that."

_taking_turns: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}


def _turns() -> asyncio.Semaphore:
    return _taking_turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
