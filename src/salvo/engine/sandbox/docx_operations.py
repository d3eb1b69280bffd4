"""Read a .docx. Runs in a worker process, because the files are untrusted and the libraries are large."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from docx import Document
from docx.document import Document as DocumentObject
from docx.oxml import parse_xml

from salvo.engine.sandbox.document_text import (
    Omission,
    OmissionKind,
    UnreadableDocumentError,
    answer,
    answer_or_problem,
    limited,
)
from salvo.engine.sandbox.docx_visibility import RunVisibility
from salvo.engine.sandbox.hidden_text import mark_hidden
from salvo.engine.sandbox.outline.docx import PAGE_BREAK, DocxOutline
from salvo.engine.sandbox.outline.docx_styles import WORD

MAX_ZIP_MEMBERS = 5_000
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_UNPACKED_RATIO = 200
"""How many times larger a .docx may become when it is unpacked."""

_OLE = b"\xd0\xcf\x11\xe0"
"""The first bytes of an encrypted .docx and of an old .doc."""
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def read(_: Mapping[str, Any], content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the text and its pages, or why there is none."""
    yield answer_or_problem(_read, content)


def _read(content: bytes) -> dict[str, Any]:
    if content.startswith(_OLE):
        raise UnreadableDocumentError("The file is encrypted, or in the old .doc format.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_archive(archive, len(content))
        document = Document(io.BytesIO(content))
        outline = DocxOutline(document)
        text = "\n".join(limited(_paragraphs(document, outline)))
        return answer(text.strip(), None, list(_omissions(document)), outline.items(text))
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


def _paragraphs(document: DocumentObject, outline: DocxOutline) -> Iterator[str]:
    """Yield the paragraphs in document order, with tables and text boxes, without text deleted by tracked changes.

    Text that a reader does not see is marked. The outline notes what each paragraph is.
    """
    body = document.element.body
    for fallback in list(body.iter(_FALLBACK)):  # the same text again, for older programs
        fallback.getparent().remove(fallback)
    visibility = RunVisibility(document)
    paragraph: Any = None
    line: list[tuple[bool, str]] = []
    page_breaks: list[int] = []
    for element in body.iter():
        if element.tag == f"{WORD}p":
            yield _finished(outline, paragraph, line, page_breaks)
            paragraph, line, page_breaks = element, [], []
        elif element.tag == f"{WORD}t":
            line.append((visibility.is_hidden(element), element.text or ""))
        elif element.tag == PAGE_BREAK:
            page_breaks.append(sum(len(text) for _, text in line))
        elif character := _CHARACTERS.get(element.tag):
            line.append((bool(line) and line[-1][0], character))
        else:
            outline.enter(element)
    yield _finished(outline, paragraph, line, page_breaks)


def _finished(outline: DocxOutline, paragraph: Any, line: list[tuple[bool, str]], page_breaks: list[int]) -> str:
    """Return the line, and note it in the outline. If a part of it is hidden, its pages begin with the line."""
    text = _joined(line)
    is_marked = any(hidden for hidden, _ in line)
    outline.add_line(paragraph, text, [0 for _ in page_breaks] if is_marked else page_breaks)
    return text


def _joined(line: list[tuple[bool, str]]) -> str:
    """Return the line; the runs of each hidden passage are marked together."""
    passages = (
        (hidden, "".join(text for _, text in parts)) for hidden, parts in groupby(line, key=lambda part: part[0])
    )
    return "".join(mark_hidden(text) if hidden else text for hidden, text in passages)


_CHARACTERS = {f"{WORD}tab": "\t", f"{WORD}br": "\n", f"{WORD}cr": "\n", f"{WORD}noBreakHyphen": "-"}


_OMITTED: Mapping[str, tuple[OmissionKind, str]] = {
    "header": ("header", "hdr"),
    "footer": ("footer", "ftr"),
    "footnotes": ("footnote", "footnote"),
    "endnotes": ("endnote", "endnote"),
    "comments": ("comment", "comment"),
}
"""By the last word of a relationship's type: the kind of the parts that are not text, and the tag of one."""


def _omissions(document: DocumentObject) -> Iterator[Omission]:
    """Yield what stands outside of the text: headers, footers, notes and comments."""
    counts: Counter[tuple[OmissionKind, str]] = Counter()
    for relationship in document.part.rels.values():
        kind, tag = _OMITTED.get(relationship.reltype.rpartition("/")[2], (None, ""))
        if kind is None or relationship.is_external:
            continue
        for element in parse_xml(relationship.target_part.blob).iter(f"{WORD}{tag}"):
            paragraphs = ("".join(part.text or "" for part in p.iter(f"{WORD}t")) for p in element.iter(f"{WORD}p"))
            if text := " ".join(" ".join(paragraphs).split()):
                counts[kind, text] += 1
    for (kind, text), count in counts.items():
        yield Omission(kind, text, count)


OPERATIONS = {"read": read}
