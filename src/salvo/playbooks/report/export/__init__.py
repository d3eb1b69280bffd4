"""A report as a file, in a format chosen by the suffix: .json, .html, .md, .xml (JUnit)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from salvo.engine.runtime.files import write_document
from salvo.errors import UsageError
from salvo.playbooks.audit.report_file import add_signature
from salvo.playbooks.enums import Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.export import html, json, junit, markdown
from salvo.playbooks.report.report import Report

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

_Renderer: TypeAlias = Callable[[Report, Inputs | None, str | None, Status], str]
"""From the report, the frozen text, the public key that will sign the file, and the status that is a failure."""
_RENDERERS: dict[str, _Renderer] = {
    ".json": lambda report, _inputs, _signed_by, _fail_on: json.render(report),
    ".html": lambda report, inputs, signed_by, _fail_on: html.render(report, inputs, signed_by=signed_by),
    ".md": lambda report, _inputs, signed_by, _fail_on: markdown.render(report, signed_by=signed_by),
    ".xml": lambda report, _inputs, _signed_by, fail_on: junit.render(report, fail_on),
}
_UNSPENT = "Nothing was run, and nothing was spent."


def write(
    path: Path,
    report: Report,
    inputs: Inputs | None = None,
    key: SigningKey | None = None,
    *,
    fail_on: Status = Status.REVIEW,
) -> bytes:
    """Write the whole file, or leave the previous one if that fails. Return what was written.

    `inputs` has the frozen text, if it was stored. With a key, the file is signed. In JUnit XML, a status that reaches
    `fail_on` is a failure.
    """
    content = _renderer(path)(report, inputs, None if key is None else key.public, fail_on).encode()
    if key is not None:
        content = add_signature(content, path.suffix, key)
    write_document(path, content)
    return content


def signed_json(report: Report, key: SigningKey | None) -> str:
    """Return the same as a JSON file has; signed if there is a key."""
    content = json.render(report).encode()
    return (content if key is None else add_signature(content, ".json", key)).decode()


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
