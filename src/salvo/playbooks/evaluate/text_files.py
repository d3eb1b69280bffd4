"""The text of a file, for the commands and the page: .txt, .md and other text, .docx and .pdf.

Word and PDF files are read by a worker process. What had to be assumed or was left out is said in a notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from salvo.engine.jsonio.canonical import sha256
from salvo.engine.sandbox import workers
from salvo.engine.sandbox.document_text import Omission
from salvo.engine.sandbox.outline.items import OutlineItem, from_rows
from salvo.engine.text.formatting import pluralize
from salvo.errors import InputError, NotUtf8Error
from salvo.playbooks.evaluate.inputs import SourceFile
from salvo.records import record

SUFFIXES = (".txt", ".md", ".docx", ".pdf")
WINDOWS_1252 = "windows-1252"
TIMEOUT_SECONDS = 20.0
"""For a worker to read one document."""

_SAVE_AS_TEXT = "Save its text as a .txt file, or copy and paste it."
_UTF_8 = "Save it as UTF-8 and try again."
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTEXT = 20
"""Characters around an invalid byte that a message shows."""
_MAX_LISTED = 5
"""Omissions of one kind that a notice lists."""
_MAX_EXCERPT = 80


@record
class FileText:
    text: str
    sha256: str
    """Of the bytes of the file."""
    pages: int | None = None
    """None if the format has no pages."""
    encoding: str | None = None
    """How the bytes of a text file were read; None for other formats."""
    notices: tuple[str, ...] = ()
    """What was assumed, and what was left out. They are part of a report, so they name the file without its folder."""
    outline: tuple[OutlineItem, ...] = ()
    """The headings, paragraphs, lists, tables and pages that the file states."""

    def source(self, name: str) -> SourceFile:
        """Return what a report says about the file. Of its name, what is not UTF-8 is replaced."""
        storable = PurePath(name).name.encode("utf-8", "replace").decode()
        return SourceFile(self.sha256, self.notices, storable, self.pages, self.outline)


def read_text_file(name: str, content: bytes, *, encoding: str | None = None) -> FileText:
    """Return the text of a file. Blocks; call it in a thread of `workers.in_killable_thread`.

    `encoding` says how to read a text file that is neither UTF-8 nor UTF-16. Raises NotUtf8Error if it is not given and
    the file could be Windows-1252, and InputError for what cannot be read.
    """
    kind = document_format(name, content)
    if kind is None:
        text, used_encoding, notices = _decode(name, content, encoding)
        return FileText(text, sha256(content), encoding=used_encoding, notices=notices)
    result = _read_in_worker(name, kind, content)
    omissions = [Omission(**omission) for omission in result["omissions"]]
    return FileText(
        result["text"],
        sha256(content),
        result["pages"],
        notices=_omission_notices(name, omissions),
        outline=from_rows(result["outline"], len(result["text"])),
    )


def document_format(name: str, content: bytes) -> str | None:
    """Return the group of the workers that read this file; None for a text file. The first bytes decide as well."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".pdf" or content.startswith(b"%PDF-"):
        return "pdf"
    return "docx" if suffix == ".docx" or content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) else None


def _read_in_worker(name: str, kind: str, content: bytes) -> dict[str, Any]:
    answer = workers.run(kind, "read", {}, content=content, seconds=TIMEOUT_SECONDS)
    if answer.timed_out:
        raise InputError(f"{name} was not read. Reading the file takes too long.", hint=_SAVE_AS_TEXT)
    if answer.failure:
        raise InputError(
            f"{name} was not read. The file is damaged, or reading it needs too much memory.", hint=_SAVE_AS_TEXT
        )
    [result] = answer.results
    if "problem" in result:
        raise InputError(f"{name} was not read. {result['problem']}", hint=_SAVE_AS_TEXT)
    return dict(result)


def _decode(name: str, content: bytes, encoding: str | None) -> tuple[str, str, tuple[str, ...]]:
    """Return the text, its encoding, and a notice if that was assumed."""
    if content.startswith(_UTF_16_MARKS):
        try:
            return content.decode("utf-16"), "utf-16", ()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name} is not UTF-16, though it begins like it: byte {error.start} is invalid.", hint=_UTF_8
            ) from error
    try:
        return content.decode("utf-8-sig"), "utf-8", ()
    except UnicodeDecodeError as error:
        position = error.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)  # the mark is not counted
    problem = f"{name} is not UTF-8: byte {position} (0x{content[position]:02x}) is invalid there"
    text = _decode_windows_1252(content)
    if text is None:
        raise InputError(f"{problem}, and it is not Windows-1252 either.", hint=_UTF_8)
    example = _around(text, position)
    if encoding != WINDOWS_1252:
        raise NotUtf8Error(
            f"{problem}. It could be Windows-1252, which would be “{example}” there.",
            hint="If that is right, read it as Windows-1252. Otherwise save it as UTF-8 and try again.",
        )
    notice = (
        f"{PurePath(name).name} is not UTF-8, so it was read as Windows-1252. This is an assumption: check the "
        f"letters with accents, the quotation marks and the currency signs, such as “{example}”."
    )
    return text, WINDOWS_1252, (notice,)


def _decode_windows_1252(content: bytes) -> str | None:
    """Return the text, or None if it has bytes that a Windows-1252 text does not have."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return None if any(character < " " and character not in "\t\n\v\f\r" for character in text) else text


def _around(text: str, position: int) -> str:
    """Return the part of a line around a position."""
    before = text[max(0, position - _CONTEXT) : position].splitlines(keepends=True)
    after = text[position : position + _CONTEXT].splitlines()
    return ((before[-1] if before and not before[-1].endswith(("\n", "\r")) else "") + after[0]).strip()


_OMISSION_LABELS = {
    "running_line": "Lines repeated at the top or bottom of the pages",
    "page_number": "Page numbers",
    "header": "Headers",
    "footer": "Footers",
    "footnote": "Footnotes",
    "endnote": "Endnotes",
    "comment": "Comments",
}


def _omission_notices(name: str, omissions: Sequence[Omission]) -> tuple[str, ...]:
    """Return a sentence for each kind of what is not part of the text."""
    notices = []
    for kind, label in _OMISSION_LABELS.items():
        parts = [omission for omission in omissions if omission.kind == kind]
        if not parts:
            continue
        descriptions = "; ".join(map(_describe, parts[:_MAX_LISTED]))
        others = f"; and {len(parts) - _MAX_LISTED} more" if len(parts) > _MAX_LISTED else ""
        notices.append(f"{label} of {PurePath(name).name} are not part of the text: {descriptions}{others}.")
    return tuple(notices)


def _describe(omission: Omission) -> str:
    text = omission.text if len(omission.text) <= _MAX_EXCERPT else f"{omission.text[:_MAX_EXCERPT]}…"
    if omission.kind == "page_number":
        return f"“{text}” and so on, on {pluralize(omission.count, 'page')}"
    if omission.kind == "running_line":
        return f"“{text}”, on {pluralize(omission.count, 'page')}"
    return f"“{text}”" if omission.count == 1 else f"“{text}” ({omission.count} times)"
