"""Whether a signature is valid. Keys are read and used in signing.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from salvo.playbooks.audit.integrity import (
    PUBLIC_KEY_BYTES,
    decode_base64,
    earlier_canonical,
    pre_authentication_encoding,
)
from salvo.playbooks.report.report_document import Signature


def signs_bytes(payload: bytes, signature: Signature) -> bool:
    """Return whether the key named in the signature signed exactly these bytes, as a payload of the named type."""
    if signature.payload_type is None:
        return False
    return _is_signed(pre_authentication_encoding(signature.payload_type, payload), signature)


def signs_content(document: Mapping[str, Any], signature: Signature) -> bool:
    """Return whether the key named in a signature of an earlier version signed the content of this report."""
    return signature.payload_type is None and _is_signed(earlier_canonical(document), signature)


def _is_signed(message: bytes, signature: Signature) -> bool:
    public_key, value = decode_base64(signature.public_key), decode_base64(signature.value)
    if public_key is None or value is None or len(public_key) != PUBLIC_KEY_BYTES:
        return False
    from salvo.playbooks.audit import signing  # cryptography is slow to import; most files and logs are not signed

    return signing.verifies(public_key, value, message)
