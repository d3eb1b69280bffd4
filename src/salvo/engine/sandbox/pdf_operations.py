"""Read a .pdf. Runs in a worker process, because the files are untrusted and the library is large."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import PyPdfError

from salvo.engine.sandbox.document_text import Omission, UnreadableDocumentError, answer, answer_or_problem, limited
from salvo.engine.sandbox.hidden_text import mark_hidden
from salvo.engine.sandbox.outline.pdf import pdf_outline, read_bookmarks
from salvo.engine.sandbox.pdf_visibility import take_out_hidden_text
from salvo.engine.sandbox.running_lines import split_running_lines

MAX_PAGES = 2_000
_BETWEEN_PAGES = "\n\n"


def read(_: Mapping[str, Any], content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the text and its pages, or why there is none."""
    yield answer_or_problem(_read, content)


def _read(content: bytes) -> dict[str, Any]:
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocumentError("The file is encrypted and needs a password.")
        pages = len(reader.pages)
        if pages > MAX_PAGES:
            raise UnreadableDocumentError(f"The file has {pages:,} pages; at most {MAX_PAGES:,} are allowed.")
        texts = list(limited(map(_page_text, reader.pages)))
        bookmarks = read_bookmarks(reader)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableDocumentError("The file is not a readable PDF.") from error
    page_texts, running_lines = split_running_lines(texts)
    omissions = [
        Omission("page_number" if line.numbered else "running_line", line.text, line.pages) for line in running_lines
    ]
    return answer(
        _BETWEEN_PAGES.join(page_texts).strip(), pages, omissions, pdf_outline(page_texts, _BETWEEN_PAGES, bookmarks)
    )


def _page_text(page: PageObject) -> str:
    """Return the text of a page. Text that a reader does not see is marked, and comes last."""
    hidden = mark_hidden(take_out_hidden_text(page))
    text = page.extract_text()
    return f"{text}\n\n{hidden}" if hidden else text


OPERATIONS = {"read": read}
