"""Write files completely or not at all, and read regular files only, up to a limit.

What Salvo stores is for its owner alone (files 0600, folders 0700), unless SALVO_SHARED=1 leaves it to the umask. A
file or folder that exists keeps its mode. Windows has no such modes: there the folder's access list decides.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, takewhile
from pathlib import Path
from typing import BinaryIO

from salvo.errors import InputError, StoreError

SHARED_VARIABLE = "SALVO_SHARED"
_SHARED_FILE, _PRIVATE_FILE, _SHARED_FOLDER, _PRIVATE_FOLDER = 0o666, 0o600, 0o777, 0o700
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
"""Errors of a file system without hard links."""
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def file_mode() -> int:
    """Return the mode of a new file of the store, from which the umask may take more away."""
    return _SHARED_FILE if os.environ.get(SHARED_VARIABLE) == "1" else _PRIVATE_FILE


def make_folder(folder: Path) -> None:
    """Create a folder of the store, and those above it that are missing, for their owner alone."""
    mode = _SHARED_FOLDER if os.environ.get(SHARED_VARIABLE) == "1" else _PRIVATE_FOLDER
    missing = list(takewhile(lambda parent: not parent.exists(), chain([folder], folder.parents)))
    for parent in reversed(missing):
        parent.mkdir(mode=mode, exist_ok=True)
    if not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(folder))


def create_private(path: Path) -> None:
    """Create an empty file of the store where there is none, for a library that would create it readable for all."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, file_mode()))


def write_atomically(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write the file so that its final name always has the complete old or the complete new content."""
    temporary = temporary_beside(path)
    try:
        write(temporary, content, mode=mode)
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):  # what prevents writing may prevent deleting too
            temporary.unlink()
        raise unwritable(path, error) from error


def create_atomically(path: Path, content: bytes) -> bool:
    """Write a new file completely or not at all. Return False, and change nothing, if there is one already."""
    temporary = temporary_beside(path)
    try:
        write(temporary, content)
        try:
            os.link(temporary, path)  # unlike a renaming, this fails if another process was faster
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                return False
            temporary.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    else:
        return True
    finally:
        with suppress(OSError):  # it was renamed, or what prevents writing prevents deleting too
            temporary.unlink()


def write_document(path: Path, content: bytes) -> None:
    """Write a file at a path that a user named, and create its folder where needed."""
    # A link is resolved, because it would be replaced otherwise.
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
    write_atomically(target, content, mode=_SHARED_FILE)


def write(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a new file. Whatever is there already, also a link, is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
    descriptor = os.open(path, flags, file_mode() if mode is None else mode)
    try:
        remaining = memoryview(content)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)


def temporary_beside(path: Path) -> Path:
    """Return a random path in the same folder, so that renaming is atomic; hidden, so that listings skip it."""
    return path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")


def names(folder: Path, prefix: str = "") -> Iterator[str]:
    """Yield the visible names in a folder, in no order; none where the folder does not exist."""
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if entry.name.startswith(prefix) and not entry.name.startswith("."):
                yield entry.name


def unwritable(path: Path, error: OSError) -> StoreError:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Free some space. What was stored before is not affected."
    else:
        hint = "Check the permissions, or work in another folder."
    return StoreError(f"{path} cannot be written: {reason}.", hint=hint)


def unreadable(path: Path, error: OSError) -> StoreError:
    hint = "Remove it." if isinstance(error, NotRegularFileError) else "Check its permissions."
    return StoreError(f"{path} cannot be read: {error.strerror or error}.", hint=hint)


class NotRegularFileError(OSError):
    """A pipe, a socket or a device, whose reader could wait for ever or read without end."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", str(path))


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading. Raise NotRegularFileError for anything else, at once."""
    _check_regular(path.stat(), path)  # merely opening a device may have an effect
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        _check_regular(os.fstat(descriptor), path)  # the file may have been replaced since
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, size: int = -1) -> bytes:
    """Return the content of a regular file, or its first `size` bytes."""
    with open_regular(path) as file:
        return file.read(size)


def _check_regular(state: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(state.st_mode):
        raise NotRegularFileError(path)


def read_up_to(path: Path, limit: int) -> bytes:
    """Return the content of a regular file that a user named, or the first `limit + 1` bytes of a longer one."""
    try:
        return read_regular(path, limit + 1)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except NotRegularFileError:
        raise InputError(
            f"{path} is a pipe, a socket or a device, so it is not read.",
            hint="Save its content to a file first. A command that takes - reads standard input.",
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
