"""The formats in which results are written as files. The suffix decides."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias, get_args

from salvo.errors import UsageError

Suffix: TypeAlias = Literal[".json", ".jsonl", ".xml", ".md", ".html"]
_SUFFIXES: tuple[Suffix, ...] = get_args(Suffix)


def checked_suffix(path: Path) -> Suffix:
    """Return the suffix that decides the format. UsageError if it is unknown: before anything is paid for."""
    for suffix in _SUFFIXES:
        if path.suffix.lower() == suffix:
            return suffix
    raise UsageError(
        f"The suffix of {path} is not that of a known format.",
        hint="Use one of .json, .jsonl, .xml (JUnit), .md, .html.",
    )
