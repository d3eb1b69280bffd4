"""Time stamps of the audit log by an authority (RFC 3161): the request, and the verification of the response.

The hash of the newest entry is sent to the authority by the user, with a tool of their own; Salvo opens no connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from salvo.engine.text.messages import install_hint
from salvo.errors import InputError
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.verification.finding import VerificationFinding

# TimeStampReq: version 1, the imprint (SHA-256 and 32 bytes), and certReq TRUE. A nonce is left out: a response for the
# same hash, whenever it was made, is evidence of the same.
_BEFORE_HASH = bytes.fromhex("3039 020101 3031 300d 0609 608648016503040201 0500 0420")
_AFTER_HASH = bytes.fromhex("0101ff")


def encode_request(entry: AuditEntry) -> bytes:
    """Return the request for a time stamp of an entry, in DER. InputError if the entry was altered."""
    if not entry.intact:
        raise InputError(
            f"Entry {entry.sequence} of the audit log was altered, so no time stamp is requested.", hint="`byop verify`"
        )
    return _BEFORE_HASH + bytes.fromhex(entry.hash.removeprefix("sha256:")) + _AFTER_HASH


def check_timestamp(file: Path, authorities: Path, log: Sequence[AuditEntry]) -> VerificationFinding:
    """Verify the signature and the certificates of a response, and that the log has the hash that it is for."""
    try:
        # An optional dependency, and cryptography, which is slow to import.
        from salvo.playbooks.audit.timestamp_response import check
    except ImportError as error:
        raise InputError(
            "Time stamps are verified with the package rfc3161-client, which is not installed.",
            hint=install_hint("timestamps"),
        ) from error
    return check(file, authorities, log)
