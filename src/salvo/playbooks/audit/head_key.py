"""The key that signs the audit log: the one that BYOP_SIGNING_KEY names, or the default key if it exists."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from salvo.playbooks.audit.revoked_keys import Revocation, read_revocations, refuse_revoked

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

VARIABLE = "BYOP_SIGNING_KEY"
ReadKey: TypeAlias = "Callable[[], SigningKey | None]"
"""Reads the key when the first entry is signed: most commands append nothing."""


def default_key_file(environ: Mapping[str, str], home: Path) -> Path:
    """Return the default location, in the user's configuration folder."""
    configured = environ.get("XDG_CONFIG_HOME", "")
    # The XDG specification says that relative paths are ignored.
    folder = Path(configured) if Path(configured).is_absolute() else home / ".config"
    return folder / "salvo" / "byop-signing-key.pem"


def revoked_keys_file(environ: Mapping[str, str], home: Path) -> Path:
    """Return where the list of revoked keys is: beside the default key."""
    return default_key_file(environ, home).with_name("byop-revoked-keys.jsonl")


def list_revocations() -> dict[str, Revocation]:
    """Return the revoked keys of the user who runs this process."""
    return read_revocations(revoked_keys_file(os.environ, Path.home()))


def head_key_reader(environ: Mapping[str, str], home: Path) -> ReadKey:
    """Return a function that reads the key once, and the list of revoked keys each time: a server runs for long."""
    read_once = cache(lambda: find_head_key(environ, home))

    def read() -> SigningKey | None:
        key = read_once()
        if key is None:
            return None
        return refuse_revoked(key, read_revocations(revoked_keys_file(environ, home)))

    return read


def read_head_key(environ: Mapping[str, str], home: Path) -> SigningKey | None:
    """Return the key that signs the audit log, or None if there is none. InputError if it cannot be used."""
    return head_key_reader(environ, home)()


def find_head_key(environ: Mapping[str, str], home: Path) -> SigningKey | None:
    """Return the key that signs the audit log, whether it is revoked or not; None if there is none."""
    configured = environ.get(VARIABLE, "").strip()
    file = Path(configured) if configured else default_key_file(environ, home)
    if not configured and not file.exists():
        return None
    return read_private_key(file)


def read_private_key(file: Path) -> SigningKey:
    """Return the key in a file. InputError if it cannot be used."""
    from salvo.playbooks.audit import signing  # cryptography is slow to import, and needed only with a key

    return signing.read_key(file)
