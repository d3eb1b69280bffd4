"""Signatures: whoever has the public key can tell who made a report, and that it is as it was. Needs no database.

The key is a file of its own, which only its owner can read. It is never in the database, and never overwritten.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salvo.errors import InputError
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.report.report import Report, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_PUBLIC_BYTES = 32


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key. `public` is what others need to know of it: base64 of its 32 bytes."""

    public: str
    _private: Ed25519PrivateKey = field(repr=False)

    def sign(self, report: Report) -> Signature:
        signed = self._private.sign(canonical(report.document()))
        return Signature("ed25519", self.public, base64.b64encode(signed).decode())


def default_key_file(environ: Mapping[str, str], home: Path) -> Path:
    """In the user's folder for settings."""
    configured = environ.get("XDG_CONFIG_HOME", "")
    # The standard has relative ones ignored.
    folder = Path(configured) if Path(configured).is_absolute() else home / ".config"
    return folder / "salvo" / "byop-signing-key.pem"


def new_key(file: Path) -> SigningKey:
    """Makes a key and writes it, for its owner's eyes only."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = Ed25519PrivateKey.generate()
    content = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Only ever a new file: a key that was overwritten is gone, with all that it could prove.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as fault:
        if file.exists():
            raise InputError(
                f"{file} is there already, and a key is never overwritten.",
                hint="Name another file, or move that one away.",
            ) from fault
        raise InputError(f"{file} cannot be written: {fault.strerror}.", hint="Name another file.") from fault
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
    return _of(private)


def read_key(file: Path) -> SigningKey:
    """A private key that `new_key` wrote, or any unencrypted Ed25519 key in PEM."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _content(file)
    if os.name == "posix" and file.stat().st_mode & 0o077:
        raise InputError(f"{file} can be read by others, so it proves nothing.", hint=f"chmod 600 {file}")
    try:
        found = load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as fault:  # TypeError: it is encrypted
        raise _no_key(file) from fault
    if not isinstance(found, Ed25519PrivateKey):
        raise _no_key(file)
    return _of(found)


def read_public_key(text: str) -> str:
    """A public key as it was given: itself in base64, or a file that holds it, in base64 or in PEM."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if _is_public_key(text):
        return text
    file = Path(text)
    content = _content(file).strip()
    try:
        if _is_public_key(content.decode("ascii")):
            return content.decode("ascii")
        found = load_pem_public_key(content)
    except ValueError as fault:
        raise InputError(f"{text} is not a public key.", hint="`byop keys show FILE` prints that of a key.") from fault
    if not isinstance(found, Ed25519PublicKey):
        raise InputError(f"{text} is not an Ed25519 key.", hint="`byop keys new` makes one.")
    return _text(found)


def is_valid(document: Mapping[str, Any], signature: Signature) -> bool:
    """Whether the key that the signature names signed exactly this report."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not _is_public_key(signature.public_key):
        return False
    try:
        value = base64.b64decode(signature.value, validate=True)
        Ed25519PublicKey.from_public_bytes(base64.b64decode(signature.public_key)).verify(value, canonical(document))
    except (InvalidSignature, binascii.Error):
        return False
    return True


def _of(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(_text(private.public_key()), private)


def _text(public: Ed25519PublicKey) -> str:
    return base64.b64encode(public.public_bytes_raw()).decode()


def _is_public_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _PUBLIC_BYTES
    except ValueError:
        return False


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as fault:
        raise InputError(
            f"{file} cannot be read: {fault.strerror}.", hint="`byop keys new` makes a key and says where."
        ) from fault


def _no_key(file: Path) -> InputError:
    return InputError(
        f"{file} is not an Ed25519 private key in PEM without a password.", hint="`byop keys new` makes one."
    )
