"""Which project a file belongs to, and how its name is shown."""

from __future__ import annotations

import os
from pathlib import Path

_ROOT_SIGNS = (".salvo", "pyproject.toml", ".git")


def find_root(start: Path) -> Path:
    """The nearest folder upward that says it is one, else the start itself."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if any((folder / sign).exists() for sign in _ROOT_SIGNS):
            return folder
    return start


def root_of(file: Path, root: Path | None) -> Path:
    """The root a file belongs to: the given one where it stands inside, else its own."""
    folder = file.resolve().parent
    if root is not None and folder.is_relative_to(root.resolve()):
        return root.resolve()
    return find_root(folder)


def shown(path: Path) -> str:
    """As a person would type it here."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would show where a link leads
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def shown_folder(folder: Path) -> str:
    name = shown(folder)
    return "the current folder" if name == "." else name
