"""The text of a document: its limits, and the reasons why there is none. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_CHARACTERS = 5_000_000


class UnreadableDocumentError(Exception):
    """The reason why no text could be extracted."""


def answer(text: str, pages: int | None) -> dict[str, Any]:
    if not text.strip():
        raise UnreadableDocumentError("The file contains no text. It may be a scan.")
    return {"text": text, "pages": pages}


def join(parts: Iterator[str], separator: str = "\n\n") -> str:
    texts, size = [], 0
    for part in parts:
        size += len(part)
        if size > MAX_CHARACTERS:
            raise UnreadableDocumentError(f"The file has more than {MAX_CHARACTERS:,} characters.")
        texts.append(part)
    return separator.join(texts).strip()
