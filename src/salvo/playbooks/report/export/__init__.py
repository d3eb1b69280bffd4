"""A report as a file, in a format chosen by the suffix: .json, .html, .md, .xml (JUnit)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from salvo.engine.runtime.files import write_document
from salvo.errors import UsageError
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.export import html, json, junit, markdown
from salvo.playbooks.report.report import ReportFile

_Renderer: TypeAlias = Callable[[ReportFile, Inputs | None], str]
_RENDERERS: dict[str, _Renderer] = {
    ".json": lambda file, _: json.render(file),
    ".html": html.render,
    ".md": lambda file, _: markdown.render(file),
    ".xml": lambda file, _: junit.render(file),
}
_UNSPENT = "Nothing was run, and nothing was spent."


def write(path: Path, file: ReportFile, inputs: Inputs | None = None) -> bytes:
    """Write the whole file, or leave the previous one if that fails. Return what was written.

    `inputs` has the frozen text, if it was stored.
    """
    content = _renderer(path)(file, inputs).encode()
    write_document(path, content)
    return content


def check(path: Path) -> None:
    """Raise UsageError if the file cannot be written. Call this before anything is paid for."""
    _renderer(path)
    if path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder.", hint=_UNSPENT)
    nearest = next(folder for folder in path.resolve().parents if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise UsageError(f"{path} cannot be written: {nearest} is not a writable folder.", hint=_UNSPENT)


def _renderer(path: Path) -> _Renderer:
    try:
        return _RENDERERS[path.suffix.lower()]
    except KeyError:
        raise UsageError(
            f"The format of {path} cannot be determined from its suffix.",
            hint=f"Use one of {', '.join(_RENDERERS)} (JUnit).",
        ) from None
