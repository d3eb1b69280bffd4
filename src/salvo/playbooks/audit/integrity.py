"""The bytes of a report that are hashed and signed: its RFC 8785 form, which any language can make."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from salvo.engine.jsonio import surrogates
from salvo.engine.jsonio.canonical import escape_surrogates_in, jcs, sha256
from salvo.errors import InputError
from salvo.playbooks.report.report import REPORT_HASH_METHOD, Report

PUBLIC_KEY_BYTES = 32


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON that is hashed and signed. No two documents give the same, even with surrogates."""
    return jcs(surrogates.escape_in(document))


def earlier_canonical(document: Mapping[str, Any]) -> bytes:
    """Return it as earlier versions did, where a lone surrogate and its escaped form give the same."""
    return jcs(escape_surrogates_in(document))


def canonical_report(document: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of a report by the method that it names; reports of earlier versions name none."""
    method = document["integrity"].get("report_hash_method")
    if method is None:
        return earlier_canonical(document)
    if method != REPORT_HASH_METHOD:
        raise InputError(
            f"The hash of this report is computed by a method that this version does not know: {method!r}.",
            hint="Either it was altered, or a newer version of Salvo wrote it.",
        )
    return canonical(document)


def report_hash(document: Mapping[str, Any]) -> str:
    """Return the hash of the whole report, with the field of the hash itself empty."""
    return sha256(canonical_report({**document, "integrity": {**document["integrity"], "report_hash": ""}}))


def with_hash(report: Report) -> Report:
    """Return the report with its own hash in it."""
    return replace(report, integrity=replace(report.integrity, report_hash=report_hash(report.document())))


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return what is signed: the encoding of DSSE, which no other type and no other payload gives.

    See https://github.com/secure-systems-lab/dsse/blob/master/protocol.md.
    """
    name = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def decode_base64(text: str) -> bytes | None:
    """Return the bytes if the text is their one base64 form; other forms would let a signed file be changed."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return content if base64.b64encode(content).decode() == text else None
