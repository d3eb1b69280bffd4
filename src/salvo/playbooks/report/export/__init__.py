"""A report as a file for others, by its suffix: .json, .html, .md, .xml (JUnit)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from salvo.engine.runtime.files import write_document
from salvo.errors import UsageError
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.report import ReportFile


def write(path: Path, file: ReportFile, inputs: Inputs | None = None) -> bytes:
    """Writes the whole document or, if that fails, leaves what was there before. What was written is returned.

    `inputs` holds the frozen text, where it was kept.
    """
    content = _writer(path)(file, inputs).encode()
    write_document(path, content)
    return content


def check(path: Path) -> None:
    """UsageError where it cannot be written: to be asked before anything is paid for."""
    _writer(path)
    if path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder.", hint=_UNSPENT)
    nearest = next(folder for folder in path.resolve().parents if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise UsageError(f"{path} cannot be written: {nearest} is no folder that may be written to.", hint=_UNSPENT)


_UNSPENT = "Nothing was run, and nothing was spent."

_Writer: TypeAlias = Callable[[ReportFile, Inputs | None], str]


def _json(file: ReportFile, _inputs: Inputs | None) -> str:
    from salvo.playbooks.report.export import json

    return json.render(file)


def _html(file: ReportFile, inputs: Inputs | None) -> str:
    from salvo.playbooks.report.export import html

    return html.render(file, inputs)


def _markdown(file: ReportFile, _inputs: Inputs | None) -> str:
    from salvo.playbooks.report.export import markdown

    return markdown.render(file)


def _junit(file: ReportFile, _inputs: Inputs | None) -> str:
    from salvo.playbooks.report.export import junit

    return junit.render(file)


_WRITERS: dict[str, _Writer] = {".json": _json, ".html": _html, ".md": _markdown, ".xml": _junit}


def _writer(path: Path) -> _Writer:
    try:
        return _WRITERS[path.suffix.lower()]
    except KeyError:
        raise UsageError(
            f"What to write into {path} is not known from its suffix.",
            hint=f"Use one of {', '.join(_WRITERS)} (JUnit).",
        ) from None
