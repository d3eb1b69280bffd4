"""What a signature signs, and whether it is valid. Keys are read and used in signing.py."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from salvo.playbooks.audit.integrity import earlier_canonical
from salvo.playbooks.report.report import Signature

PUBLIC_KEY_BYTES = 32


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return what is signed: the encoding of DSSE, which no other type and no other payload gives.

    See https://github.com/secure-systems-lab/dsse/blob/master/protocol.md.
    """
    name = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


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


def decode_base64(text: str) -> bytes | None:
    """Return the bytes if the text is their one base64 form; other forms would let a signed file be changed."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return content if base64.b64encode(content).decode() == text else None
