"""Locks of batches. While a process makes the runs of a batch, no other one may: each run is paid for.

Shards share the lock of a batch, and divide its runs among them by leases (leases.py).

All locks are on bytes of one file, so that a command with a thousand batches needs one open file. The system releases
them when the process ends, however it does. Who holds a lock is in a file beside it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import make_folder, read_regular, unwritable, write_atomically
from salvo.engine.text.formatting import format_time
from salvo.errors import UsageError
from salvo.records import record
from salvo.scenarios.store.ids import describe_work
from salvo.scenarios.store.jsonl import open_for_appending, parse_line

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # the module or None

_LARGEST_OWNER = 4096
_files: dict[Path, int] = {}
"""The lock files of this process. One stays open while a lock is held: closing it would release all of them."""
_held: set[Path] = set()
"""The owner files of the locks that this process has. It may take them again."""


@record
class LockOwner:
    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {format_time(self.since)}"


@contextmanager
def hold_batches(folder: Path, batch_ids: Iterable[str], now: str, *, is_shared: bool = False) -> Iterator[None]:
    """Hold the locks of these batches in this block. Raise UsageError with the owner if another process has one.

    Several processes may hold a shared lock, if none holds another one. A process may take its own lock again. On a
    system without such locks nothing is locked.
    """
    file = _lock_file(folder)
    owner = json_codec.dumps(LockOwner(os.getpid(), platform.node(), now)) + b"\n"
    locked: list[str] = []
    try:
        for batch_id in batch_ids:
            owner_file = _owner_file(folder, batch_id)
            if owner_file in _held:
                continue
            if not _lock(file, batch_id, is_shared=is_shared):
                raise _held_by_another(owner_file, batch_id)
            locked.append(batch_id)
            _held.add(owner_file)
            write_atomically(owner_file, owner)
        yield
    finally:
        _release(folder, file, locked, owner)


def _lock_file(folder: Path) -> int:
    folder = folder.absolute()
    if folder not in _files:
        try:
            make_folder(folder)
            _files[folder] = open_for_appending(folder / ".lock")
        except OSError as error:
            raise unwritable(folder / ".lock", error) from error
    return _files[folder]


def _lock(file: int, batch_id: str, *, is_shared: bool) -> bool:
    """Return whether this process has the lock now."""
    if fcntl is not None:
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        try:
            fcntl.lockf(file, kind | fcntl.LOCK_NB, 1, _offset(batch_id))
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)  # other errors: a file system without locks
    return True


def _release(folder: Path, file: int, batch_ids: Iterable[str], owner: bytes) -> None:
    for batch_id in batch_ids:
        owner_file = _owner_file(folder, batch_id)
        _held.discard(owner_file)
        with suppress(OSError):
            if read_regular(owner_file, _LARGEST_OWNER) == owner:  # not that of another who shares the lock
                owner_file.unlink()  # while the lock is held, so that it is not the next owner's
        if fcntl is not None:
            with suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_UN, 1, _offset(batch_id))
    if not any(owner_file.parent == folder.absolute() for owner_file in _held):
        _files.pop(folder.absolute())
        os.close(file)


def _offset(batch_id: str) -> int:
    return int.from_bytes(hashlib.sha256(batch_id.encode()).digest()[:7])


def _owner_file(folder: Path, batch_id: str) -> Path:
    return folder.absolute() / f".{batch_id}.owner"


def _held_by_another(owner_file: Path, batch_id: str) -> UsageError:
    owner = None
    with suppress(OSError):  # it was released just now, or taken just before
        owner = parse_line(read_regular(owner_file, _LARGEST_OWNER), LockOwner)
    return UsageError(
        f"{describe_work(batch_id)} by {owner or 'another process'}.",
        hint="Wait until that has ended, or end it. Nothing was run, and nothing was spent.",
    )
