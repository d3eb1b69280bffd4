"""The option --sign, and the key that it names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.playbooks.audit.head_key import default_key_file, revoked_keys_file

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

_DEFAULT_KEY = "the default key"

sign_option = click.option(
    "--sign",
    "signing_key",
    is_flag=False,
    flag_value=_DEFAULT_KEY,
    metavar="[=FILE]",
    help="Sign the report's files with this key, or with your default key (byop keys new).",
)


def read_signing_key(name: str | None) -> SigningKey | None:
    """Return the key that --sign names; None without the option. InputError if it is revoked."""
    if name is None:
        return None
    # Imported here because cryptography is slow to import, and most runs do not sign.
    from salvo.playbooks.audit import signing
    from salvo.playbooks.audit.revoked_keys import read_revocations, refuse_revoked

    key = signing.read_key(default_key_file(os.environ, Path.home()) if name == _DEFAULT_KEY else Path(name))
    return refuse_revoked(key, read_revocations(revoked_keys_file(os.environ, Path.home())))
