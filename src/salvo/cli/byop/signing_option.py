"""The option --sign, and the key that it names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

sign_option = click.option(
    "--sign",
    "signing_key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign the report's files with this key (byop keys new).",
)


def read_signing_key(path: Path | None) -> SigningKey | None:
    if path is None:
        return None
    from salvo.playbooks.audit import signing  # cryptography is slow to import, and most runs do not sign

    return signing.read_key(path)
