"""`byop keys`: the key that reports are signed with."""

from __future__ import annotations

from pathlib import Path

import click


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
    from salvo.cli.byop import keys_command

    keys_command.new(file)


@keys.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
def show(file: Path | None) -> None:
    """Print the public key of a key.

    FILE defaults to salvo/byop-signing-key.pem in your configuration folder.
    """
    from salvo.cli.byop import keys_command

    keys_command.show(file)
