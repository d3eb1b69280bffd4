"""The hashes of a report, over its RFC 8785 form, so that they can be recomputed in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio.canonical import escape_surrogates_in, jcs, sha256
from salvo.playbooks.report.report import Report


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON that is hashed and signed; lone surrogates are escaped."""
    return jcs(escape_surrogates_in(document))


def report_hash(document: Mapping[str, Any]) -> str:
    """Return the hash of the whole report, with the field of the hash itself empty."""
    return sha256(canonical({**document, "integrity": {**document["integrity"], "report_hash": ""}}))


def with_hash(report: Report) -> Report:
    """Return the report with its own hash in it."""
    return replace(report, integrity=replace(report.integrity, report_hash=report_hash(report.document())))
