"""The text of a document: its limits, what is left out of it, and the reasons why there is none.

Runs in a worker process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal, TypeAlias

from salvo.engine.sandbox.outline.items import OutlineItem, to_rows
from salvo.records import record

MAX_CHARACTERS = 5_000_000
MAX_OMISSION = 200
"""Characters of an omitted part that are returned, to name it."""

OmissionKind: TypeAlias = Literal["running_line", "page_number", "header", "footer", "footnote", "endnote", "comment"]


@record
class Omission:
    """A part of a document that is not part of its text."""

    kind: OmissionKind
    text: str
    count: int
    """How often it occurs, such as on how many pages."""


class UnreadableDocumentError(Exception):
    """The reason why no text could be extracted."""


def answer_or_problem(read: Callable[[bytes], dict[str, Any]], content: bytes) -> dict[str, Any]:
    """Return the answer of a worker: what `read` returns, or why there is no text."""
    try:
        return read(content)
    except UnreadableDocumentError as error:
        return {"problem": str(error)}


def answer(
    text: str, pages: int | None, omissions: Sequence[Omission] = (), outline: Sequence[OutlineItem] = ()
) -> dict[str, Any]:
    if not text.strip():
        raise UnreadableDocumentError("The file contains no text. It may be a scan.")
    shortened = [replace(omission, text=omission.text[:MAX_OMISSION]) for omission in omissions]
    return {
        "text": text,
        "pages": pages,
        "omissions": [asdict(omission) for omission in shortened],
        "outline": to_rows(outline),
    }


def limited(parts: Iterable[str]) -> Iterator[str]:
    """Yield the parts, as long as all of them together are not too long."""
    size = 0
    for part in parts:
        size += len(part)
        if size > MAX_CHARACTERS:
            raise UnreadableDocumentError(f"The file has more than {MAX_CHARACTERS:,} characters.")
        yield part
