"""The hashes of a report: over RFC 8785, so that anyone can compute them again in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio.canonical import escape_surrogates_in, jcs, sha256
from salvo.playbooks.report.report import Report


def canonical(document: Mapping[str, Any]) -> bytes:
    """What is hashed and signed: canonical JSON, a lone surrogate spelled out."""
    return jcs(escape_surrogates_in(document))


def report_hash(document: Mapping[str, Any]) -> str:
    """Over the whole report, with the place of this hash left empty."""
    return sha256(canonical({**document, "integrity": {**document["integrity"], "report_hash": ""}}))


def with_hash(report: Report) -> Report:
    """The report with its own hash in its place."""
    return replace(report, integrity=replace(report.integrity, report_hash=report_hash(report.document())))
