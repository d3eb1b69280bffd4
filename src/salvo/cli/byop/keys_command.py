"""The body of `byop keys`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from salvo.playbooks.audit.signing import default_key_file, new_key, read_key


def new(file: Path | None) -> None:
    path = file or default_key_file(os.environ, Path.home())
    key = new_key(path)
    click.echo(f"The key is in {path}. Keep it secret, and give others the public key:", err=True)
    click.echo(key.public)


def show(file: Path | None) -> None:
    click.echo(read_key(file or default_key_file(os.environ, Path.home())).public)
