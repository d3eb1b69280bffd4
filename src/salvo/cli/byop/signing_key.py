"""The key that the option --sign names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from salvo.cli.byop.signing_option import DEFAULT_KEY
from salvo.playbooks.audit.head_key import default_key_file, list_revocations, read_private_key
from salvo.playbooks.audit.revoked_keys import refuse_revoked

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey


def read_signing_key(name: str | None) -> SigningKey | None:
    """Return the key that --sign names; None without the option. InputError if it is revoked."""
    if name is None:
        return None
    key = read_private_key(default_key_file(os.environ, Path.home()) if name == DEFAULT_KEY else Path(name))
    return refuse_revoked(key, list_revocations())
