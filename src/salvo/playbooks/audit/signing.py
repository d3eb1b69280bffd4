"""Sign reports. With the public key, anyone can check who signed a report and that it is unchanged, without a database.

The private key is a file that only its owner can read. It is never stored in the database and never overwritten.
"""

from __future__ import annotations

import base64
import os
from dataclasses import field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from salvo.engine.runtime.files import read_regular
from salvo.errors import InputError
from salvo.playbooks.audit.integrity import PUBLIC_KEY_BYTES, decode_base64, pre_authentication_encoding
from salvo.playbooks.report.report_document import Signature
from salvo.records import record

_MAX_KEY_BYTES = 64 * 1024
"""More than any file with one key has; the rest of a longer file is not read."""


@record
class SigningKey:
    """A private key. `public` is its public key: base64 of 32 bytes."""

    public: str
    _private: Ed25519PrivateKey = field(repr=False)

    def sign(self, payload_type: str, payload: bytes) -> Signature:
        """Sign the exact bytes of a payload, as a payload of this type and of no other."""
        value = self._private.sign(pre_authentication_encoding(payload_type, payload))
        return Signature("ed25519", self.public, base64.b64encode(value).decode(), payload_type)


def new_key(file: Path) -> SigningKey:
    """Create a key, and write it to a file that only its owner can read."""
    private = Ed25519PrivateKey.generate()
    content = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Only a new file: an overwritten key could not be recovered.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        if file.exists():
            raise InputError(
                f"{file} already exists, and a key is never overwritten.",
                hint="Name another file, or move that one away.",
            ) from error
        raise InputError(f"{file} cannot be written: {error.strerror}.", hint="Name another file.") from error
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
    return _signing_key(private)


def read_key(file: Path) -> SigningKey:
    """Read a private key that `new_key` wrote, or any unencrypted Ed25519 key in PEM."""
    content = _content(file)
    if os.name == "posix" and file.stat().st_mode & 0o077:
        raise InputError(
            f"{file} can be read by other users, so a signature with it proves nothing.", hint=f"chmod 600 {file}"
        )
    try:
        private = load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as error:  # TypeError: it is encrypted
        raise _not_a_key(file) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise _not_a_key(file)
    return _signing_key(private)


def read_public_key(text: str) -> str:
    """Return a public key in base64; `text` is the key itself, or a file that has it in base64 or PEM."""
    if _is_public_key(text):
        return text
    file = Path(text)
    content = _content(file).strip()
    try:
        if _is_public_key(content.decode("ascii")):
            return content.decode("ascii")
        public = load_pem_public_key(content)
    except ValueError as error:
        hint = "`byop keys show FILE` prints the public key of a private key."
        raise InputError(f"{text} is not a public key.", hint=hint) from error
    if not isinstance(public, Ed25519PublicKey):
        raise InputError(f"{text} is not an Ed25519 key.", hint="`byop keys new` creates one.")
    return _base64(public)


def verifies(public_key: bytes, value: bytes, message: bytes) -> bool:
    """Return whether the value is a signature of the message by this public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(value, message)
    except InvalidSignature:
        return False
    return True


def _signing_key(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(_base64(private.public_key()), private)


def _base64(public: Ed25519PublicKey) -> str:
    return base64.b64encode(public.public_bytes_raw()).decode()


def _is_public_key(text: str) -> bool:
    return len(decode_base64(text) or b"") == PUBLIC_KEY_BYTES


def _content(file: Path) -> bytes:
    try:
        return read_regular(file, _MAX_KEY_BYTES)
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}.", hint="`byop keys new` creates a key and prints its location."
        ) from error


def _not_a_key(file: Path) -> InputError:
    return InputError(f"{file} is not an unencrypted Ed25519 private key in PEM.", hint="`byop keys new` creates one.")
