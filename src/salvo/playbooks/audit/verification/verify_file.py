"""Verify a report file by itself: its hash and its signature. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.chain_signatures import KnownKeys
from salvo.playbooks.audit.integrity import report_hash
from salvo.playbooks.audit.report_file import PAYLOAD_TYPES, ReportContent, payload_type, split_document
from salvo.playbooks.audit.signatures import signs_bytes, signs_content
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.report.report_document import Signature

_NO_KEYS = KnownKeys()
_OLDER_SCHEME = (
    " It was signed by an earlier version of Salvo, whose signature covers the content of the report, not the bytes of "
    "the file."
)


def is_json(path: Path) -> bool:
    """Return whether the file is verified as JSON, which has the report as data."""
    return payload_type(path) == PAYLOAD_TYPES[".json"]


def json_file(
    content: ReportContent, *, public_key: str | None = None, keys: KnownKeys = _NO_KEYS
) -> list[VerificationFinding]:
    """Verify a report in JSON, without a database. `keys` is what is known about keys."""
    signature = content.signature
    if signature is None or signature.payload_type is not None:
        finding = _check_signature(content.payload, signature, public_key, keys, PAYLOAD_TYPES[".json"])
    else:
        finding = _check_older_signature(content.document, signature, public_key, keys)
    return [_check_own_hash(content.document), finding]


def document_file(
    content: bytes, path: Path, *, public_key: str | None = None, keys: KnownKeys = _NO_KEYS
) -> list[VerificationFinding]:
    """Verify a report in HTML, Markdown or XML, without a database. It has no hash of its own, only a signature."""
    payload, signature = split_document(content, str(path))
    return [_check_signature(payload, signature, public_key, keys, payload_type(path))]


def document_in_log(content: bytes, log: Sequence[AuditEntry]) -> list[VerificationFinding]:
    """Verify that the audit log has the export of exactly this file."""
    file_hash = sha256(content)
    for entry in log:
        if entry.action == audit_log.EXPORT and entry.content.get("file_sha256") == file_hash:
            message = f"The audit log has the export of exactly this file, of the report {entry.report_id}: {entry.at}."
            return [VerificationFinding("database", VerificationState.HOLDS, message)]
    message = f"The audit log has no export of exactly this file: {file_hash}."
    return [VerificationFinding("database", VerificationState.UNKNOWN, message)]


def _check_own_hash(document: Mapping[str, Any]) -> VerificationFinding:
    computed, claimed = report_hash(document), document["integrity"].get("report_hash")
    if computed != claimed:
        message = f"The report was altered: its hash is {computed}, but it names {claimed}."
        return VerificationFinding("report", VerificationState.ALTERED, message)
    message = f"The report matches the hash that it names: {claimed}."
    return VerificationFinding("report", VerificationState.HOLDS, message)


def _check_signature(
    payload: bytes, signature: Signature | None, public_key: str | None, keys: KnownKeys, expected_type: str
) -> VerificationFinding:
    if signature is None and public_key is None:
        message = "The file is not signed: whoever could change it could also have recomputed its hashes."
        return VerificationFinding("signature", VerificationState.UNKNOWN, message)
    if signature is None:
        message = "The file is not signed, neither with the key that you named nor with another."
        return VerificationFinding("signature", VerificationState.NOT_SIGNED, message)
    if signature.payload_type != expected_type:
        message = f"The signature is for a file of the type {signature.payload_type}, and this one is {expected_type}."
        return VerificationFinding("signature", VerificationState.CONTRADICTED, message)
    is_valid = signs_bytes(payload, signature)
    return _signed_by(signature, public_key, keys, is_valid, " It covers every byte of the file.")


def _check_older_signature(
    document: Mapping[str, Any], signature: Signature, public_key: str | None, keys: KnownKeys
) -> VerificationFinding:
    return _signed_by(signature, public_key, keys, signs_content(document, signature), _OLDER_SCHEME)


def _signed_by(
    signature: Signature, public_key: str | None, keys: KnownKeys, is_valid: bool, coverage: str
) -> VerificationFinding:
    name = signature.public_key
    if not is_valid:
        message = f"The signature of the key {name} is invalid: the file or the signature was altered."
        return VerificationFinding("signature", VerificationState.ALTERED, message)
    if public_key is not None and name != public_key and name not in keys.successors:
        message = (
            f"The file was signed with a different key: {name}, not {public_key}. No audit log here shows that the one "
            "replaced the other."
        )
        return VerificationFinding("signature", VerificationState.OTHER_KEY, message)
    if (revocation := keys.revocations.get(name)) is not None:
        message = (
            f"The file was signed with the key {name}, which was revoked on {revocation.at} ({revocation.reason}): "
            "whoever has that key could have signed the file at any time."
        )
        state = VerificationState.UNKNOWN if public_key is None else VerificationState.REVOKED_KEY
        return VerificationFinding("signature", state, message)
    if public_key is None:
        message = (
            f"The signature is valid for the key {name}.{coverage} The owner of that key is not known: name the key "
            "that you expect with --public-key."
        )
    elif name != public_key:
        message = (
            f"The file was signed with the key {name}.{coverage} That key replaced the one that you named, "
            f"{public_key}, by a statement that the named one signed or a key that it vouches for."
        )
    else:
        message = f"The file was signed with the key that you named: {public_key}.{coverage}"
    return VerificationFinding("signature", VerificationState.HOLDS, message)
