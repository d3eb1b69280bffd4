"""A report file and its signature: how they are joined into one file, and how they are taken apart again.

The signature covers the exact bytes of the unsigned file. In JSON it replaces the null of the member `signature`; in
HTML, Markdown and XML it is a comment at the end. Taking it out gives the unsigned file again, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.strict_json import loads_strict
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError
from salvo.playbooks.report.report import Report
from salvo.playbooks.report.report_document import Signature, check_document
from salvo.playbooks.review.section import ReviewSection
from salvo.records import record

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

JSON = ".json"
_TYPE = "application/vnd.byop.report"
PAYLOAD_TYPES = {JSON: f"{_TYPE}+json", ".html": f"{_TYPE}+html", ".md": f"{_TYPE}+markdown", ".xml": f"{_TYPE}+junit"}
"""What a file is signed as, by its suffix, so that a signed file cannot be taken for one of another kind."""

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Of a report file. The largest text is 20 MB, and a report quotes it several times at most."""

_COMMENT = b"<!-- byop-signature %b -->\n"
_COMMENT_PATTERN = re.compile(rb"<!-- byop-signature ([^\n]*) -->\n\Z")


@record
class ReportContent:
    """A parsed JSON file: the report, the same as plain JSON values, the signature, and the bytes that it signs."""

    report: Report
    document: dict[str, Any]
    signature: Signature | None
    payload: bytes
    review: ReviewSection | None


def payload_type(path: Path) -> str:
    """Return what a file with this name is signed as. Without a suffix of ours it is taken for JSON."""
    return PAYLOAD_TYPES.get(path.suffix.lower(), PAYLOAD_TYPES[JSON])


def read_report_file(path: Path) -> bytes:
    """Return the content of a report file that a user named. InputError if it is longer than any report."""
    content = read_up_to(path, MAX_FILE_BYTES)
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"{path} is larger than {MAX_FILE_BYTES // 2**20} MiB, so it is not a report of ours.")
    return content


def add_signature(content: bytes, suffix: str, key: SigningKey) -> bytes:
    """Return the file with a signature in it; `content` is the whole file without one."""
    suffix = suffix.lower()
    signature = key.sign(PAYLOAD_TYPES[suffix], content)
    if suffix == JSON:
        return content.removesuffix(_json_end(None)) + _json_end(signature)
    return content + _comment(signature)


def parse_json(content: bytes, name: str) -> ReportContent:
    """Parse a report file strictly: InputError if it could mean something else to another program.

    Duplicate keys, unknown fields, NaN and anything after the end are refused.
    """
    try:
        document = loads_strict(content)
    except ValueError as error:
        raise InputError(f"{name} is not a report file: {error}.") from error
    file = check_document(document, name)
    unknown = next(_unknown_fields(document, json_codec.loads(json_codec.dumps(file))), None)
    if unknown is not None:
        raise InputError(
            f"{name} has the field {unknown}, which a report of this version does not have.",
            hint="Either it was added to the file, or a newer version of Salvo wrote it.",
        )
    payload = _payload(content, file.signature)
    return ReportContent(file.byop_report, document["byop_report"], file.signature, payload, file.review)


def split_document(content: bytes, name: str) -> tuple[bytes, Signature | None]:
    """Return what is signed in an HTML, Markdown or XML file, and the signature at its end."""
    match = _COMMENT_PATTERN.search(content)
    if match is None:
        return content, None
    try:
        signature = type_adapter(Signature).validate_python(loads_strict(match[1]))
    except ValueError as error:  # a ValidationError is one too
        raise InputError(f"The signature at the end of {name} cannot be read.") from error
    if _comment(signature) != match[0]:
        raise InputError(f"The signature at the end of {name} is not written as Salvo writes it.")
    return content[: match.start()], signature


def _payload(content: bytes, signature: Signature | None) -> bytes:
    """Return the file as it was before it was signed; empty if the signature is not where it was put."""
    if signature is None:
        return content
    end = _json_end(signature)
    return content.removesuffix(end) + _json_end(None) if content.endswith(end) else b""


def _json_end(signature: Signature | None) -> bytes:
    """Return the end of a JSON file, after its report."""
    return b"," + json_codec.dumps({"signature": signature}, indent=2).removeprefix(b"{") + b"\n"


def _comment(signature: Signature) -> bytes:
    return _COMMENT % json_codec.dumps(signature)


def _unknown_fields(value: Any, expected: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every field of the value that was not read."""
    if isinstance(value, dict) and isinstance(expected, dict):
        for name, item in value.items():
            inner = f"{path}.{name}" if path else name
            if name not in expected:
                yield inner
            else:
                yield from _unknown_fields(item, expected[name], inner)
    elif isinstance(value, list) and isinstance(expected, list):
        for number, (item, expected_item) in enumerate(zip(value, expected, strict=False)):
            yield from _unknown_fields(item, expected_item, f"{path}[{number}]")
