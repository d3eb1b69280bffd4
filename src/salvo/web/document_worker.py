"""Read a .docx or .pdf in a separate process: `python -m salvo.web.document_worker .pdf < FILE` prints JSON.

The files are untrusted, and the libraries that read them are large. Memory and time are limited here, and a crash ends
this process only.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

MAX_MEMORY_BYTES = 1024 * 1024 * 1024
MAX_CPU_SECONDS = 20
MAX_PAGES = 2_000
MAX_CHARACTERS = 5_000_000
MAX_ZIP_MEMBERS = 5_000
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_UNPACKED_RATIO = 200
"""How many times larger a .docx may become when it is unpacked."""

_OLE = b"\xd0\xcf\x11\xe0"
"""The first bytes of an encrypted .docx and of an old .doc."""
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


class UnreadableDocumentError(Exception):
    """The reason why no text could be extracted."""


def main() -> None:
    _limit_resources()
    read = _READERS[sys.argv[1]]
    try:
        text, pages = read(sys.stdin.buffer.read())
        if not text.strip():
            raise UnreadableDocumentError("The file contains no text. It may be a scan.")
        answer: dict[str, Any] = {"text": text, "pages": pages}
    except UnreadableDocumentError as error:
        answer = {"problem": str(error)}
    json.dump(answer, sys.stdout)


def _limit_resources() -> None:
    with suppress(ImportError):  # Windows has no such limits; the server's timeout still applies
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))


def _pdf(content: bytes) -> tuple[str, int]:
    from pypdf import PdfReader  # loaded for this format only
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocumentError("The file is encrypted and needs a password.")
        pages = len(reader.pages)
        if pages > MAX_PAGES:
            raise UnreadableDocumentError(f"The file has {pages:,} pages; at most {MAX_PAGES:,} are allowed.")
        return _join(page.extract_text() for page in reader.pages), pages
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableDocumentError("The file is not a readable PDF.") from error


def _docx(content: bytes) -> tuple[str, None]:
    if content.startswith(_OLE):
        raise UnreadableDocumentError("The file is encrypted, or in the old .doc format.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_archive(archive, len(content))
        return _join(_paragraphs(content), "\n"), None
    except (zipfile.BadZipFile, ValueError, KeyError, SyntaxError, NotImplementedError) as error:
        raise UnreadableDocumentError("The file is not a readable .docx.") from error


def _check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Check the sizes that the archive declares; zipfile never unpacks more than these."""
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MAX_ZIP_MEMBERS or unpacked > min(MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO * size):
        raise UnreadableDocumentError("The file becomes too large when it is unpacked.")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableDocumentError("The file is encrypted.")


def _paragraphs(content: bytes) -> Iterator[str]:
    """Yield the paragraphs in document order, with tables and text boxes, without text deleted by tracked changes."""
    from docx import Document  # loaded for this format only

    body = Document(io.BytesIO(content)).element.body
    for fallback in list(body.iter(_FALLBACK)):  # the same text again, for older programs
        fallback.getparent().remove(fallback)
    line: list[str] = []
    for element in body.iter():
        if element.tag == f"{_WORD}p":
            yield "".join(line)
            line = []
        elif element.tag == f"{_WORD}t":
            line.append(element.text or "")
        else:
            line.append(_CHARACTERS.get(element.tag, ""))
    yield "".join(line)


_CHARACTERS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}


def _join(parts: Iterator[str], separator: str = "\n\n") -> str:
    texts, size = [], 0
    for part in parts:
        size += len(part)
        if size > MAX_CHARACTERS:
            raise UnreadableDocumentError(f"The file has more than {MAX_CHARACTERS:,} characters.")
        texts.append(part)
    return separator.join(texts).strip()


_READERS: dict[str, Callable[[bytes], tuple[str, int | None]]] = {".pdf": _pdf, ".docx": _docx}

if __name__ == "__main__":
    main()
