"""`byop keys`: the key that reports are signed with."""

from __future__ import annotations

import os
from pathlib import Path

import click

from salvo.cli.byop.database import open_store
from salvo.cli.output import echo
from salvo.cli.param_types import FILE_PATH
from salvo.engine.jsonio.canonical import sha256
from salvo.engine.runtime.clock import SystemClock
from salvo.errors import InputError, UnknownIdError
from salvo.playbooks.audit import audit_log, chain_signatures
from salvo.playbooks.audit.head_key import default_key_file, find_head_key, list_revocations, revoked_keys_file
from salvo.playbooks.audit.revoked_keys import Revocation, append_revocation, refuse_revoked
from salvo.playbooks.audit.signing import SigningKey, new_key, read_key, read_public_key


@click.group
def keys() -> None:
    """Create, replace and revoke the key that signs reports and the audit log.

    Anyone with the public key can verify a signed report with `byop verify FILE --public-key KEY`, without the
    database. While the default key exists, or BYOP_SIGNING_KEY names a key, each new entry of the audit log is signed.
    """


@keys.command
@click.argument("file", required=False, type=FILE_PATH)
def new(file: Path | None) -> None:
    """Create a key that only you can read, and print its public key.

    FILE defaults to salvo/byop-signing-key.pem in your configuration folder. An existing file is never overwritten.
    """
    path = file or default_key_file(os.environ, Path.home())
    key = new_key(path)
    echo(f"The key is in {path}. Keep it secret, and give others the public key:", err=True)
    echo(key.public)


@keys.command
@click.argument("file", required=False, type=FILE_PATH)
def show(file: Path | None) -> None:
    """Print the public key of a key.

    FILE defaults to salvo/byop-signing-key.pem in your configuration folder.
    """
    echo(read_key(file or default_key_file(os.environ, Path.home())).public)


@keys.command
@click.argument("file", required=False, type=FILE_PATH)
def rotate(file: Path | None) -> None:
    """Replace a key by a new one, and print the new public key.

    The old key signs a statement that the new one replaces it, and the audit log of this database records it. The old
    key stays, beside the new one; delete it when it is no longer needed. FILE defaults to your default key.
    """
    path = file or default_key_file(os.environ, Path.home())
    old = refuse_revoked(read_key(path), list_revocations())
    aside = _aside(path, old.public)
    fresh = path.with_name(f"{path.name}.new")
    new = new_key(fresh)
    at = _now()
    statement = chain_signatures.rotation_statement(old.public, new.public, at=at)
    signature = old.sign(chain_signatures.ROTATION_TYPE, statement).value
    try:
        with open_store() as store:
            store.record_key(audit_log.KEY_ROTATED, old.public, at, replaced_by=new.public, signature=signature)
        recorded = f"The audit log in {store.place} records it."
    except UnknownIdError:
        recorded = "There is no database here, so no audit log records it."
    except BaseException:
        fresh.unlink()
        raise
    path.rename(aside)
    fresh.rename(path)
    echo(f"The old key is in {aside}. {recorded} Give others the new public key:", err=True)
    echo(new.public)


@keys.command
@click.argument("key", metavar="KEY|FILE")
@click.option("--reason", required=True, help="Why the key must no longer be trusted.")
def revoke(key: str, reason: str) -> None:
    """Record that a key must no longer be trusted.

    KEY is a public key, or a file with it. It is added to byop-revoked-keys.jsonl in your configuration folder, and to
    the audit log if there is a database. From then on it signs nothing more, and `byop verify` says that what it signed
    can no longer be trusted. If it is your default key, its file is renamed.
    """
    public = read_public_key(key)
    file = revoked_keys_file(os.environ, Path.home())
    revocation = append_revocation(file, Revocation(public, reason, _now()))
    echo(f"The key {public} is revoked since {revocation.at}: {file} says so. Give others a copy of that line.")
    path = default_key_file(os.environ, Path.home())
    if path.exists() and read_key(path).public == public:
        aside = _aside(path, public)
        path.rename(aside)
        echo(f"It was your default key, and is now in {aside}. `byop keys new` creates another.")
    try:
        with open_store(read_key=lambda: _other_head_key(public)) as store:
            store.record_key(audit_log.KEY_REVOKED, public, _now(), reason=reason)
        echo(f"The audit log in {store.place} records it.")
    except UnknownIdError:
        echo("There is no database here, so no audit log records it.")


def _other_head_key(public: str) -> SigningKey | None:
    """Return the key that signs the audit log, unless it is the one that is being revoked."""
    key = find_head_key(os.environ, Path.home())
    if key is None or key.public == public:
        return None
    return refuse_revoked(key, list_revocations())


def _aside(path: Path, public: str) -> Path:
    """Return where a key is kept that is no longer used. A key is never overwritten."""
    aside = path.with_name(f"{path.stem}-{sha256(public.encode())[7:19]}{path.suffix}")
    if aside.exists():
        raise InputError(f"{aside} already exists, and a key is never overwritten.", hint="Move it away.")
    return aside


def _now() -> str:
    return SystemClock().now().isoformat(timespec="milliseconds")
