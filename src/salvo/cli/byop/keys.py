"""`byop keys`: the key that reports are signed with."""

from __future__ import annotations

import os
from pathlib import Path

import click

from salvo.playbooks.audit.signing import default_key_file, new_key, read_key


@click.group
def keys() -> None:
    """Create a key to sign reports with, and show its public key.

    Anyone with the public key can verify a signed report with `byop verify FILE --public-key KEY`, without the
    database.
    """


@keys.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
def new(file: Path | None) -> None:
    """Create a key that only you can read, and print its public key.

    FILE defaults to salvo/byop-signing-key.pem in your configuration folder. An existing file is never overwritten.
    """
    path = file or default_key_file(os.environ, Path.home())
    key = new_key(path)
    click.echo(f"The key is in {path}. Keep it secret, and give others the public key:", err=True)
    click.echo(key.public)


@keys.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
def show(file: Path | None) -> None:
    """Print the public key of a key.

    FILE defaults to salvo/byop-signing-key.pem in your configuration folder.
    """
    click.echo(read_key(file or default_key_file(os.environ, Path.home())).public)
