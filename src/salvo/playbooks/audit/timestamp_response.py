"""The response of a time stamp authority (RFC 3161), verified against its certificates and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from cryptography.x509 import Certificate, load_der_x509_certificate, load_pem_x509_certificates
from rfc3161_client import (
    PKIStatus,
    TimeStampResponse,
    TimeStampTokenInfo,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError
from salvo.playbooks.audit.anchors import PART
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState

_MAX_BYTES = 1_000_000
_SHA256 = "2.16.840.1.101.3.4.2.1"


def check(file: Path, authorities: Path, log: Sequence[AuditEntry]) -> VerificationFinding:
    """Verify the signature and the certificates of a response, and that the log has the hash that it is for."""
    response, token = _read_response(file)
    imprint = token.message_imprint
    verifier = VerifierBuilder(roots=_read_certificates(authorities)).build()
    try:
        verifier.verify(response, imprint.message)
        signer = _signer(response)
    except (VerificationError, ValueError) as error:
        message = f"{file} is not a valid time stamp of an authority in {authorities}: {error}"
        return VerificationFinding(PART, VerificationState.NOT_TRUSTED, message)
    anchored = f"anchored by TSA {signer.subject.rfc4514_string()} at {token.gen_time.astimezone(UTC).isoformat()}"
    if imprint.hash_algorithm.dotted_string != _SHA256:
        message = f"{file}: a hash was {anchored}, but it is not a SHA-256 hash, so it is none of the audit log."
        return VerificationFinding(PART, VerificationState.CONTRADICTED, message)
    stamped = "sha256:" + imprint.message.hex()
    entry = next((entry for entry in log if entry.hash == stamped), None)
    if entry is None:
        message = f"{file}: {stamped} was {anchored}, and no entry has it: the audit log was rebuilt or truncated, or "
        message += "the time stamp is of another log."
        return VerificationFinding(PART, VerificationState.CONTRADICTED, message)
    message = (
        f"Entry {entry.sequence} of the audit log is {anchored}: its hash, which covers all entries before it, existed "
        f"then. The authority's certificate is trusted by {authorities}; whether it was revoked is not checked."
    )
    return VerificationFinding(PART, VerificationState.HOLDS, message)


def _read_response(file: Path) -> tuple[TimeStampResponse, TimeStampTokenInfo]:
    try:
        response = decode_timestamp_response(_read(file))
        status = PKIStatus(response.status)
        if status is PKIStatus.GRANTED:
            return response, response.tst_info
    except ValueError as error:
        raise InputError(f"{file} is not a response of a time stamp authority.") from error
    reason = "; ".join(response.status_string) or "it gave no reason"
    raise InputError(f"The authority did not grant the time stamp in {file} ({status.name.lower()}): {reason}.")


def _signer(response: TimeStampResponse) -> Certificate:
    """Return the certificate that signed a verified response."""
    [info] = response.signed_data.signer_infos
    for content in response.signed_data.certificates:
        certificate = load_der_x509_certificate(content)
        if (certificate.issuer, certificate.serial_number) == (info.issuer, info.serial_number):
            return certificate
    raise ValueError("it does not contain the certificate of its signer")


def _read_certificates(file: Path) -> list[Certificate]:
    try:
        return load_pem_x509_certificates(_read(file))
    except ValueError as error:
        raise InputError(f"{file} has no certificates in PEM.", hint="The authority publishes its own.") from error


def _read(file: Path) -> bytes:
    content = read_up_to(file, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise InputError(f"{file} is larger than {_MAX_BYTES:,} bytes.")
    return content
