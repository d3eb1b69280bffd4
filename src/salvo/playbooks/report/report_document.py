"""The file of a report: with its review and its signature. It is published as JSON Schema."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic_core import ValidationError

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.errors import InputError
from salvo.playbooks.report.report import Report
from salvo.playbooks.review.section import ReviewSection
from salvo.records import record


@record
class Signature:
    """Over the exact bytes of the file without the signature, in the pre-authentication encoding of DSSE."""

    algorithm: Literal["ed25519"]
    """The kind of signature."""
    public_key: str
    """The key to verify it with, in Base64."""
    value: str
    """The signature, in Base64."""
    payload_type: str | None = None
    """The kind of file that was signed. None in files of earlier versions, which signed the RFC 8785 form of
    `byop_report` and not the bytes of the file."""


@record
class ReportFile:
    """The content of a report file: the report, its review if there is one, and a signature if one was requested."""

    byop_report: Report
    """The report."""
    signature: Signature | None = None
    """None if the file was not signed."""
    review: ReviewSection | None = None
    """What people decided about the report. None if nobody reviewed it."""


def read_report(content: bytes, name: str = "The report") -> ReportFile:
    """Read a report from a file or a database; InputError says what is wrong with it and where."""
    try:
        document = json_codec.loads(content)
    except ValueError as error:
        raise InputError(f"{name} is not JSON: {error}.") from error
    return check_document(document, name)


def check_document(document: Any, name: str) -> ReportFile:
    """Return the report file that a parsed JSON document is; InputError if it is none."""
    if not isinstance(document, dict) or "byop_report" not in document:
        raise InputError(f"{name} is not a BYOP report: it has no byop_report.")
    try:
        return type_adapter(ReportFile).validate_python(document)
    except ValidationError as error:
        raise InputError(f"{name} is not a BYOP report of this version: {': '.join(first_error(error))}.") from error


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report file. Its descriptions are docstrings, in which null is called None."""
    schema = _with_null_for_none(type_adapter(ReportFile).json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _with_null_for_none(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_null_for_none(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: re.sub(r"\bNone\b", "null", part)
        if name == "description" and isinstance(part, str)
        else _with_null_for_none(part)
        for name, part in schema.items()
    }
