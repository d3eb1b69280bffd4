"""The key that signs the audit log: the one that BYOP_SIGNING_KEY names, or the default key if it exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

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


def head_key_reader(environ: Mapping[str, str], home: Path) -> ReadKey:
    """Return a function that reads the key once."""
    return cache(lambda: read_head_key(environ, home))


def read_head_key(environ: Mapping[str, str], home: Path) -> SigningKey | None:
    """Return the key that signs the audit log, or None if there is none. InputError if it cannot be used."""
    named = environ.get(VARIABLE, "").strip()
    file = Path(named) if named else default_key_file(environ, home)
    if not named and not file.exists():
        return None
    from salvo.playbooks.audit import signing  # cryptography is slow to import, and needed only with a key

    return signing.read_key(file)
