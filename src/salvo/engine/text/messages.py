"""Parts of messages: excerpts of values, suggestions for misspelt words, paths."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec

MAX_EXCERPT = 200
"""Characters of a value in a message; the fields of the result have all of it."""
_MAX_WORD = 80
"""No known word is longer, and the search takes quadratic time."""


def excerpt(value: Any, limit: int = MAX_EXCERPT) -> str:
    """Return the value as JSON, truncated for a message."""
    text = json_codec.dumps(value).decode("utf-8", "replace")
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def nearest(word: str, candidates: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the candidate that the word likely stands for; empty where there is none."""
    if len(word) > _MAX_WORD:
        return ""
    return next(iter(difflib.get_close_matches(word, list(candidates), n=1, cutoff=cutoff)), "")


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return the end of a sentence, with a suggestion where there is one."""
    near = nearest(word, candidates)
    return f'; did you mean "{near}"?' if near else "."


def display_path(path: Path) -> str:
    """Return the path as a person would type it in the current folder."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would show the target of a link
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def install_command(extra: str = "") -> str:
    """Return the command that installs Salvo from its source: `salvo-ai` on the public index is another project."""
    return f"pip install '.[{extra}]'" if extra else "pip install ."


def install_hint(extra: str) -> str:
    """Return what to do if a package of this optional dependency is missing."""
    return f"In the folder of Salvo's source, run {install_command(extra)}."


def display_folder(folder: Path) -> str:
    name = display_path(folder)
    return "the current folder" if name == "." else name
