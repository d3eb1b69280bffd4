"""Files: written whole or not at all, by processes that may be killed at any moment; read so far and no further."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from salvo.errors import InputError, StoreError

_numbers = count(1)


def write_atomically(path: Path, content: bytes) -> None:
    """Under its final name the file is the old one or the new one, never a part of it."""
    aside = temporary_beside(path)
    try:
        write(aside, content)
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):  # whatever keeps us from writing may keep us from cleaning up, too
            aside.unlink()
        raise unwritable(path, error) from error


def write_document(path: Path, content: bytes) -> None:
    """Where a person wants it: in a folder that may have to be made."""
    # Through a link to the file it names, or the link would be replaced.
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
    write_atomically(target, content)


def write(path: Path, content: bytes) -> None:
    # Not tempfile: its files can be read by their owner alone, and a store is shared and committed.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def temporary_beside(path: Path) -> Path:
    """In the same folder, so that renaming is atomic; hidden, so that no listing takes it for what it will be."""
    return path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.tmp")


def move_folder(folder: Path, final: Path) -> None:
    """A folder cannot take another's place in one step: the old one is put aside first."""
    if not final.exists():
        folder.rename(final)
        return
    old = temporary_beside(final)
    final.rename(old)
    folder.rename(final)
    shutil.rmtree(old, ignore_errors=True)


def names(folder: Path, prefix: str = "") -> Iterator[str]:
    """What is in a folder, in no order; nothing where there is no folder."""
    try:
        found = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with found:
        for entry in found:
            if entry.name.startswith(prefix) and not entry.name.startswith("."):
                yield entry.name


def unwritable(path: Path, error: OSError) -> StoreError:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Free some space; what was stored before is untouched."
    else:
        hint = "Give yourself the right to write there, or work in another folder."
    return StoreError(f"{path} cannot be written: {reason}.", hint=hint)


def read_up_to(path: Path, limit: int) -> bytes:
    """The file, or one byte more than the limit of it, so that it shows: a stranger's name may lead to anything."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
