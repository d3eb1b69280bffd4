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
from salvo.playbooks.review.section import ReviewSection
from salvo.records import record

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey


@record
class _Rendering:
    """What a file is made from."""

    report: Report
    inputs: Inputs | None
    signed_by: str | None
    """The public key that will sign the file."""
    fail_on: Status
    review: ReviewSection | None


_Renderer: TypeAlias = Callable[[_Rendering], str]
_RENDERERS: dict[str, _Renderer] = {
    ".json": lambda file: json.render(file.report, file.review),
    ".html": lambda file: html.render(file.report, file.inputs, signed_by=file.signed_by, review=file.review),
    ".md": lambda file: markdown.render(file.report, signed_by=file.signed_by, review=file.review),
    ".xml": lambda file: junit.render(file.report, file.fail_on, file.review),
}
_UNSPENT = "Nothing was run, and nothing was spent."


def write(
    path: Path,
    report: Report,
    inputs: Inputs | None = None,
    key: SigningKey | None = None,
    *,
    fail_on: Status = Status.REVIEW,
    review: ReviewSection | None = None,
) -> bytes:
    """Write the whole file, or leave the previous one if that fails. Return what was written.

    `inputs` has the frozen text, if it was stored. With a key, the file is signed. In JUnit XML, a status that reaches
    `fail_on` is a failure; if the review decides, the status is the reviewed one.
    """
    content = render(path, report, inputs, key, fail_on=fail_on, review=review)
    write_document(path, content)
    return content


def render(
    path: Path,
    report: Report,
    inputs: Inputs | None,
    key: SigningKey | None = None,
    *,
    fail_on: Status = Status.REVIEW,
    review: ReviewSection | None = None,
) -> bytes:
    """Return what `write` writes."""
    signed_by = None if key is None else key.public
    content = _renderer(path)(_Rendering(report, inputs, signed_by, fail_on, review)).encode()
    return content if key is None else add_signature(content, path.suffix, key)


def signed_json(report: Report, key: SigningKey | None, review: ReviewSection | None = None) -> str:
    """Return the same as a JSON file has; signed if there is a key."""
    content = json.render(report, review).encode()
    return (content if key is None else add_signature(content, ".json", key)).decode()


def check(path: Path) -> None:
    """Raise UsageError if the file cannot be written. Call this before anything is paid for."""
    _renderer(path)
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raise UsageError if there can be no file at this path."""
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
