"""Hashes of passwords, by Argon2id. Loaded by the server and by `byop user` only."""

from __future__ import annotations

import os
from base64 import b32encode

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash(os.urandom(16))
"""Verified where there is no such user, so that the time of an answer does not tell who has an account."""


def hash_password(password: str) -> str:
    return _HASHER.hash(password.encode("utf-8", "surrogatepass"))


def is_password(password: str, password_hash: str | None) -> bool:
    """Return whether this is the password. It takes as long if there is no hash."""
    try:
        _HASHER.verify(password_hash or _NOBODY, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Return whether the hash was made with other parameters than those of today."""
    return _HASHER.check_needs_rehash(password_hash)


def random_password() -> str:
    """Return twenty letters and digits in groups of five, which nobody can guess."""
    letters = b32encode(os.urandom(13)).decode().lower()[:20]
    return "-".join(letters[start : start + 5] for start in range(0, 20, 5))
