"""Parts of sentences that name what somebody wrote: a value cut to what can be read, a word that was likely meant."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec

MAX_EXCERPT = 200
"""Characters of a value in a message; the whole stands in the result's fields."""
_LONGEST_WORD = 80
"""No word that is meant is longer, and the search for a near one takes the square of the length."""


def excerpt(value: Any, most: int = MAX_EXCERPT) -> str:
    """The value as JSON, cut to what can be read in a line."""
    text = json_codec.dumps(value).decode("utf-8", "replace")
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known word that was likely meant, or nothing."""
    if len(word) > _LONGEST_WORD:
        return ""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), "")


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A sentence's end: the known word that was likely meant, or nothing."""
    near = nearest(word, known, cutoff=cutoff)
    return f'; did you mean "{near}"?' if near else "."


def display_path(path: Path) -> str:
    """Return the path as a person would type it in the current folder."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would show the target of a link
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def display_folder(folder: Path) -> str:
    name = display_path(folder)
    return "the current folder" if name == "." else name
