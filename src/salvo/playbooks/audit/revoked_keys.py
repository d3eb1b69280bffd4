"""The list of revoked keys: a file beside the default signing key, with a line of JSON for each key.

It works without a database. It is no secret, and may be copied to the configuration folder of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from salvo.engine.jsonio.strict_json import loads_strict
from salvo.engine.runtime.files import create_private, make_folder, read_regular
from salvo.errors import InputError
from salvo.playbooks.audit.integrity import canonical

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey


class Revocation(NamedTuple):
    public_key: str
    reason: str
    at: str


def read_revocations(file: Path) -> dict[str, Revocation]:
    """Return the revoked keys; none if there is no list. InputError if the list is damaged."""
    return _parse(_read(file), file)


def append_revocation(file: Path, revocation: Revocation) -> Revocation:
    """Add a key to the list, and return its revocation: the first one, if the key is on the list already."""
    content = _read(file)
    if (earlier := _parse(content, file).get(revocation.public_key)) is not None:
        return earlier
    line = canonical(revocation._asdict()) + b"\n"
    try:
        make_folder(file.parent)
        create_private(file)
        with file.open("ab") as opened:
            opened.write(line if not content or content.endswith(b"\n") else b"\n" + line)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.", hint="Check its permissions.") from error
    return revocation


def refuse_revoked(key: SigningKey, revocations: Mapping[str, Revocation]) -> SigningKey:
    """Return the key. InputError if it is revoked."""
    revocation = revocations.get(key.public)
    if revocation is None:
        return key
    raise InputError(
        f"The key {key.public} was revoked on {revocation.at} ({revocation.reason}), so nothing is signed with it.",
        hint="Use another key: `byop keys new` creates one. Restart a server that still uses this one.",
    )


def _read(file: Path) -> bytes:
    try:
        return read_regular(file)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"The list of revoked keys {file} cannot be read: {error.strerror}.") from error


def _parse(content: bytes, file: Path) -> dict[str, Revocation]:
    revocations: dict[str, Revocation] = {}
    for number, line in enumerate(content.splitlines(), 1):
        try:
            revocation = Revocation(**loads_strict(line))
        except (ValueError, TypeError) as error:
            raise _damaged(file, number) from error
        if not all(isinstance(part, str) for part in revocation):
            raise _damaged(file, number)
        revocations.setdefault(revocation.public_key, revocation)
    return revocations


def _damaged(file: Path, number: int) -> InputError:
    return InputError(
        f"Line {number} of the list of revoked keys {file} cannot be read.",
        hint="Restore the file from a copy, or repair the line. Until then no signature is made or checked.",
    )
