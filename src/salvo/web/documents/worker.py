"""Reads a .docx or .pdf in a process of its own: `python -m salvo.web.documents.worker .pdf < FILE` prints JSON.

Files come from strangers, and the libraries that read them are large. Whatever happens here, memory and time are
bounded, and the server only loses this process.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

LARGEST_MEMORY = 1024 * 1024 * 1024
LONGEST_CPU = 20
MOST_PAGES = 2_000
LONGEST_TEXT = 5_000_000
"""Characters."""
MOST_PARTS = 5_000
LARGEST_EXPANDED = 200 * 1024 * 1024
LARGEST_RATIO = 200
"""How many times larger a .docx may become when it is unpacked."""

_OLE = b"\xd0\xcf\x11\xe0"
"""How an encrypted .docx begins, and an old .doc."""
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


class UnreadableDocumentError(Exception):
    """Why there is no text, in a sentence."""


def main() -> None:
    _limit()
    read = _READERS[sys.argv[1]]
    try:
        text, pages = read(sys.stdin.buffer.read())
        if not text.strip():
            raise UnreadableDocumentError("The file has no text in it: it may be a scan.")
        answer: dict[str, Any] = {"text": text, "pages": pages}
    except UnreadableDocumentError as fault:
        answer = {"problem": str(fault)}
    json.dump(answer, sys.stdout)


def _limit() -> None:
    with suppress(ImportError):  # a system without such limits still has the clock of the process that waits for us
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_CPU, LONGEST_CPU))


def _pdf(content: bytes) -> tuple[str, int]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocumentError("The file is encrypted, and needs a password.")
        pages = len(reader.pages)
        if pages > MOST_PAGES:
            raise UnreadableDocumentError(f"The file has {pages:,} pages, and {MOST_PAGES:,} are allowed.")
        return _bounded(page.extract_text() for page in reader.pages), pages
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise UnreadableDocumentError("The file is no PDF that can be read.") from fault


def _docx(content: bytes) -> tuple[str, None]:
    if content.startswith(_OLE):
        raise UnreadableDocumentError("The file is encrypted, or in the old format .doc.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            _check_size(packed, len(content))
        return _bounded(_paragraphs(content), "\n"), None
    except (zipfile.BadZipFile, ValueError, KeyError, SyntaxError, NotImplementedError) as fault:
        raise UnreadableDocumentError("The file is no .docx that can be read.") from fault


def _check_size(packed: zipfile.ZipFile, size: int) -> None:
    """By what the archive says of itself; no more than that is ever unpacked."""
    parts = packed.infolist()
    expanded = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or expanded > min(LARGEST_EXPANDED, LARGEST_RATIO * size):
        raise UnreadableDocumentError("The file becomes too large when it is unpacked.")
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableDocumentError("The file is encrypted.")


def _paragraphs(content: bytes) -> Iterator[str]:
    """In the order of the document, tables and text boxes included; what was deleted in a tracked change is not."""
    from docx import Document

    body = Document(io.BytesIO(content)).element.body
    for doubled in list(body.iter(_FALLBACK)):  # the same text again, for programs that cannot show the first
        doubled.getparent().remove(doubled)
    line: list[str] = []
    for element in body.iter():
        if element.tag == f"{_WORD}p":
            yield "".join(line)
            line = []
        elif element.tag == f"{_WORD}t":
            line.append(element.text or "")
        else:
            line.append(_SIGNS.get(element.tag, ""))
    yield "".join(line)


_SIGNS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}


def _bounded(parts: Iterator[str], between: str = "\n\n") -> str:
    kept, size = [], 0
    for part in parts:
        size += len(part)
        if size > LONGEST_TEXT:
            raise UnreadableDocumentError(f"The file has more than {LONGEST_TEXT:,} characters.")
        kept.append(part)
    return between.join(kept).strip()


_READERS: dict[str, Callable[[bytes], tuple[str, int | None]]] = {".pdf": _pdf, ".docx": _docx}

if __name__ == "__main__":
    main()
