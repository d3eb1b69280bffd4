"""A store in a folder, such as `.salvo/`. Several processes may write it, and each may be killed at any moment.

So a file gets its name only when it is complete. A group is a folder. Folders of other machines work if their file
system has locks and hard links; otherwise two processes that write the same file at the same moment are not told apart.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from salvo.engine.runtime.files import (
    create_atomically,
    make_folder,
    names,
    read_regular,
    temporary_beside,
    unreadable,
    unwritable,
    write,
    write_atomically,
)
from salvo.errors import StoreError
from salvo.scenarios.store.backends.base import StoredObject
from salvo.scenarios.store.backends.batch_lock import hold_batches
from salvo.scenarios.store.backends.holds import BatchHolds
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.indexing.history import HistoryIndex
from salvo.scenarios.store.jsonl import open_for_appending, open_locked

FREE_SPACE = 32 * 1024 * 1024
"""Bytes that must be free before any run is paid for."""
_GITIGNORE = Path(__file__).parents[2] / "spec" / "templates" / "gitignore.txt"
_WRITTEN = ("runs", "batches", "recordings")
_REPLACE_LOCK = ".replace.lock"
"""Not the file of the batches' locks: closing that would release them."""
_EXISTS = (errno.EEXIST, errno.ENOTEMPTY)


class FolderStorage:
    is_shared = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holds = BatchHolds(self)
        self._checked: set[Path] = set()
        """Folders that are known to be inside the store."""

    @property
    def address(self) -> str:
        return str(self._folder)

    def make_index(self, folder: Path, load: Callable[[Iterable[str]], Entries]) -> HistoryIndex:
        return HistoryIndex(folder, self, load)

    def path(self, key: str) -> Path:
        return self._folder / key

    def describe(self, key: str) -> str:
        return str(self.path(key))

    def prepare(self) -> None:
        """Create the folders, and check that they are writable and that the disk has space."""
        try:
            if not self.path(_WRITTEN[0]).exists():
                self._ignore_in_git()
            for name in _WRITTEN:
                make_folder(self._inside(self.path(name)))
                probe = temporary_beside(self.path(name) / "probe")
                write(probe, bytes(4096))
                probe.unlink()
            os.close(open_for_appending(self.path("history.jsonl")))
            free = shutil.disk_usage(self._folder).free
        except OSError as error:
            raise unwritable(self._folder, error) from error
        if free < FREE_SPACE:
            raise StoreError(
                f"The disk under {self._folder} has only {free // 1024:,} kB left.",
                hint=f"Free at least {FREE_SPACE // 1024**2} MB. Nothing was run, and nothing was spent.",
            )

    def _ignore_in_git(self) -> None:
        """Write a .gitignore into a new store, as `salvo init` does: only recordings are worth committing."""
        make_folder(self._folder)
        with suppress(FileExistsError):
            write(self._folder / ".gitignore", _GITIGNORE.read_bytes())

    def hold(self, ids: Iterable[str], now: str) -> AbstractContextManager[None]:
        return hold_batches(self._inside(self.path("batches")), ids, now)

    @contextmanager
    def hold_runs(self, requested: Mapping[str, Sequence[int]], now: str) -> Iterator[dict[str, list[int]]]:
        with (
            hold_batches(self._inside(self.path("batches")), requested, now, is_shared=True),
            self._holds.hold_runs(requested, now) as granted,
        ):
            yield granted

    def is_held(self) -> bool:
        return self._holds.is_valid()  # the system releases a lock only when the process ends, but leases expire

    @property
    def leases(self) -> Leases | None:
        return self._holds.leases

    def get(self, key: str) -> bytes:
        path = self.path(key)
        try:
            return read_regular(own_path(path, self._folder))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unreadable(path, error) from error

    def get_versioned(self, key: str) -> tuple[bytes, str] | None:
        try:
            content = self.get(key)
        except FileNotFoundError:
            return None
        return content, hashlib.sha256(content).hexdigest()

    def put(self, key: str, content: bytes) -> None:
        write_atomically(self._writable(key), content)

    def create(self, key: str, content: bytes) -> bool:
        return create_atomically(self._writable(key), content)

    def replace(self, key: str, content: bytes, version: str | None) -> bool:
        path = self._writable(key)
        try:
            with open_locked(path.with_name(_REPLACE_LOCK)):
                current = self.get_versioned(key)
                if (current[1] if current else None) != version:
                    return False
                write_atomically(path, content)
                return True
        except OSError as error:
            raise unwritable(path, error) from error

    def delete(self, key: str) -> None:
        path = self.path(key)
        self._inside(path.parent)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error

    def exists(self, key: str) -> bool:
        return self.path(key).is_file()

    def names(self, folder: str, prefix: str = "") -> Iterator[str]:
        return names(self.path(folder), prefix)

    def list(self, folder: str, prefix: str = "") -> Iterator[StoredObject]:
        path = self.path(folder)
        for name in names(path, prefix):
            with suppress(FileNotFoundError):  # deleted just now
                state = (path / name).lstat()
                version = f"{state.st_ino}-{state.st_mtime_ns}-{state.st_size}"
                yield StoredObject(name, version, datetime.fromtimestamp(state.st_mtime, UTC))

    def folders(self, folder: str, prefix: str = "") -> Iterator[str]:
        return names(self.path(folder), prefix)

    def create_group(self, key: str, files: Mapping[str, bytes]) -> bool:
        final = self.path(key)
        self._inside(final.parent)
        temporary = temporary_beside(final)
        try:
            make_folder(temporary)
            for name, content in files.items():
                write(temporary / name, content)
            if final.exists():
                shutil.rmtree(temporary, ignore_errors=True)
                return False
            temporary.rename(final)  # fails if another process has made it since: a folder with files is not replaced
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if error.errno in _EXISTS and final.is_dir():
                return False
            raise unwritable(final, error) from error
        return True

    def get_group(self, key: str) -> dict[str, bytes]:
        folder = self.path(key)
        if not folder.is_dir():
            raise FileNotFoundError(folder)
        try:
            return {name: read_regular(own_path(folder / name, self._folder)) for name in sorted(names(folder))}
        except OSError as error:
            raise unreadable(folder, error) from error

    def has_group(self, key: str) -> bool:
        return self.path(key).is_dir()

    def _writable(self, key: str) -> Path:
        """Return the path of a file to write, in a folder that exists."""
        path = self.path(key)
        if not self._inside(path.parent).exists():
            try:
                make_folder(path.parent)
            except OSError as error:
                raise unwritable(path.parent, error) from error
        return path

    def _inside(self, folder: Path) -> Path:
        """Return a folder to write to. Raise StoreError if a link in a store of someone else leads out of that."""
        if folder not in self._checked:
            store = os.path.realpath(self._folder)
            if not f"{os.path.realpath(folder)}{os.sep}".startswith(f"{store}{os.sep}"):
                raise StoreError(
                    f"{folder} leads out of the store, so nothing is written there.", hint="Remove the link."
                )
            self._checked.add(folder)
        return folder


def own_path(path: Path, store: Path) -> Path:
    """Return the path if it exists inside the store. A store of someone else may contain any link."""
    path.stat()
    if not os.path.realpath(path).startswith(f"{os.path.realpath(store)}{os.sep}"):
        raise StoreError(f"{path} leads out of the store, so it is not read.", hint="Remove it.")
    return path
