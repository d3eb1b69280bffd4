"""`byop keys`: the key that reports are signed with."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.group
def keys() -> None:
    """Make a key to sign reports with, and show its public half.

    Whoever has the public key can verify a signed report with `byop verify FILE --public-key KEY`, without the
    database.
    """


@keys.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
def new(file: Path | None) -> None:
    """Make a key, readable by you alone, and print its public half.

    FILE defaults to salvo/byop-signing-key.pem in your folder for settings. An existing file is never overwritten.
    """
    from salvo.playbooks.audit.signing import default_key_file, new_key

    target = file or default_key_file(os.environ, Path.home())
    key = new_key(target)
    click.echo(f"The key is in {target}. Keep it to yourself, and give others the public key:", err=True)
    click.echo(key.public)


@keys.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
def show(file: Path | None) -> None:
    """Print the public half of a key.

    FILE defaults to salvo/byop-signing-key.pem in your folder for settings.
    """
    from salvo.playbooks.audit.signing import default_key_file, read_key

    click.echo(read_key(file or default_key_file(os.environ, Path.home())).public)
