"""A store in an object store (S3, Google Cloud Storage, Azure), through `obstore`: an optional dependency.

Credentials come from the environment, as `obstore` finds them; none is stored or printed. An object store lists whole
folders only, so runs and recordings have a folder for each batch: the key "runs/B-0001.json" is the object
`runs/B/B-0001.json`. A group is one zip file. What is listed may have been put there by anyone: objects with other
names than Salvo's are left out, and one that is too large is not read.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from salvo.engine.runtime.clock import SystemClock
from salvo.errors import StoreError
from salvo.scenarios.store.backends.base import StoredObject
from salvo.scenarios.store.backends.holds import BatchHolds
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.indexing.object_index import ObjectIndex

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

LARGEST_OBJECT = 256 * 1024 * 1024
"""Bytes. A run or recording of Salvo is far smaller."""
_PAGE = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_ARCHIVE = ".zip"
_BY_BATCH = ("runs", "recordings")
_GROUPS = ("recordings",)
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_RETRIES: Any = {"max_retries": 6, "retry_timeout": timedelta(seconds=60)}
_QUERY = re.compile(r"\?[^\s\"')]*")
"""Of an address in an error message. It may contain a signature."""


class ObjectStorage:
    is_shared = True

    def __init__(self, url: str) -> None:
        self.address = url.rstrip("/")
        self._holds = BatchHolds(self)
        try:
            self._objects: ObjectStore = from_url(self.address, retry_config=_RETRIES)
        except (BaseError, ValueError) as error:
            raise StoreError(
                f"{self.address} cannot be used as a store: {_reason(error)}.",
                hint="Check the address and the variables of the environment, such as AWS_REGION.",
            ) from None

    def make_index(self, folder: Path, load: Callable[[Iterable[str]], Entries]) -> ObjectIndex:
        return ObjectIndex(self, folder, load)

    def describe(self, key: str) -> str:
        return f"{self.address}/{_path(key)}"

    def prepare(self) -> None:
        """Check that objects can be written, and that the second writer of a name is refused."""
        key = f"probes/{SystemClock().new_id()}"
        created = self.create(key, b"1")
        refused = not self.create(key, b"2")
        self.delete(key)
        if not (created and refused):
            raise StoreError(
                f"{self.address} does not refuse to write an object that exists, so two runs could replace each other.",
                hint="Use an object store with conditional writes. Nothing was run, and nothing was spent.",
            )

    def hold(self, ids: Iterable[str], now: str) -> AbstractContextManager[None]:
        return self._holds.hold(ids, now)

    def hold_runs(
        self, requested: Mapping[str, Sequence[int]], now: str
    ) -> AbstractContextManager[dict[str, list[int]]]:
        return self._holds.hold_runs(requested, now)

    def is_held(self) -> bool:
        return self._holds.is_valid()

    @property
    def leases(self) -> Leases | None:
        return self._holds.leases

    def get(self, key: str) -> bytes:
        return self._get(key)[0]

    def get_versioned(self, key: str) -> tuple[bytes, str] | None:
        try:
            return self._get(key)
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes) -> None:
        self._write(key, lambda: self._objects.put(_path(key), content))

    def create(self, key: str, content: bytes) -> bool:
        try:
            self._write(key, lambda: self._objects.put(_path(key), content, mode="create"))
        except AlreadyExistsError:
            return False
        return True

    def replace(self, key: str, content: bytes, version: str | None) -> bool:
        if version is None:
            return self.create(key, content)
        kind, _, value = version.partition("=")
        update: Any = {kind: value}
        try:
            self._write(key, lambda: self._objects.put(_path(key), content, mode=update))
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def delete(self, key: str) -> None:
        try:
            self._write(key, lambda: self._objects.delete(_path(key)))
        except FileNotFoundError:
            return

    def exists(self, key: str) -> bool:
        try:
            self._read(key, lambda: self._objects.head(_path(key)))
        except FileNotFoundError:
            return False
        return True

    def names(self, folder: str, prefix: str = "") -> Iterator[str]:
        return (item.name for item in self.list(folder, prefix))

    def list(self, folder: str, prefix: str = "") -> Iterator[StoredObject]:
        below = folder
        if folder in _BY_BATCH and prefix.endswith("-"):
            below = f"{folder}/{prefix.removesuffix('-')}"
        pages = iter(self._objects.list(below, chunk_size=_PAGE))
        while True:
            try:
                page = self._read(folder, lambda: next(pages, None))
            except FileNotFoundError as error:
                raise self._unreadable(folder, error) from None
            if page is None:
                return
            for item in page:
                name = _name(folder, item["path"])
                if name is not None and name.startswith(prefix):
                    version = item["e_tag"] or item["version"] or str(item["last_modified"])
                    yield StoredObject(name, version, item["last_modified"])

    def folders(self, folder: str, prefix: str = "") -> Iterator[str]:
        try:
            listing = self._read(folder, lambda: self._objects.list_with_delimiter(folder))
        except FileNotFoundError as error:
            raise self._unreadable(folder, error) from None
        for path in listing["common_prefixes"]:
            name = path.rstrip("/").rpartition("/")[2]
            if name.startswith(prefix) and _NAME.fullmatch(name):
                yield name

    def create_group(self, key: str, files: Mapping[str, bytes]) -> bool:
        return self.create(key, _pack(files))

    def get_group(self, key: str) -> dict[str, bytes]:
        return _unpack(self.get(key), self.describe(key))

    def has_group(self, key: str) -> bool:
        return self.exists(key)

    def _get(self, key: str) -> tuple[bytes, str]:
        reply = self._read(key, lambda: self._objects.get(_path(key)))
        if reply.meta["size"] > LARGEST_OBJECT:
            raise StoreError(
                f"{self.describe(key)} has {reply.meta['size']:,} bytes, so it is not read.",
                hint=f"Salvo writes none with more than {LARGEST_OBJECT:,} bytes. Find out who put it there.",
            )
        version = f"version={reply.meta['version']}" if reply.meta["e_tag"] is None else f"e_tag={reply.meta['e_tag']}"
        return bytes(self._read(key, reply.bytes)), version

    def _read(self, key: str, action: Callable[[], T]) -> T:
        try:
            return action()
        except FileNotFoundError:
            raise
        except (BaseError, OSError, ValueError) as error:
            raise self._unreadable(key, error) from None

    def _write(self, key: str, action: Callable[[], object]) -> None:
        try:
            action()
        except (AlreadyExistsError, PreconditionError):
            raise
        except (BaseError, OSError, ValueError) as error:
            raise StoreError(
                f"{self.describe(key)} cannot be written: {_reason(error)}.",
                hint="Check the address, the network, and the permissions of your credentials.",
            ) from None

    def _unreadable(self, key: str, error: Exception) -> StoreError:
        return StoreError(
            f"{self.describe(key)} cannot be read: {_reason(error)}.",
            hint="Check the address, the network, and the permissions of your credentials.",
        )


def _path(key: str) -> str:
    folder, _, name = key.partition("/")
    if not name:
        return key
    suffix = _ARCHIVE if folder in _GROUPS else ""
    if folder in _BY_BATCH:
        stem = name.removesuffix(".json")
        batch_id = stem.rpartition("-")[0] or stem
        return f"{folder}/{batch_id}/{name}{suffix}"
    return f"{key}{suffix}"


def _name(folder: str, path: str) -> str | None:
    """Return the name in a folder of what an object contains; None for an object that Salvo did not write."""
    name = path.rpartition("/")[2]
    if folder in _GROUPS:
        if not name.endswith(_ARCHIVE):
            return None
        name = name.removesuffix(_ARCHIVE)
    return name if _NAME.fullmatch(name) and _path(f"{folder}/{name}") == path else None


def _reason(error: Exception) -> str:
    """Return what happened in one line, without the parameters of addresses and without the library's details."""
    message = _QUERY.sub("", str(error).partition("\n\nDebug source")[0])
    if code := re.search(r"<Code>(\w+)</Code>.*?<Message>(.*?)</Message>", message, re.DOTALL):
        message = f"{code[1]}: {code[2]}"
    return " ".join(message.split())[:300].rstrip(".")


def _pack(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = ZipInfo(name, _ZIP_TIME)  # without the time, so that equal files make equal archives
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def _unpack(content: bytes, name: str) -> dict[str, bytes]:
    """Return the files of an archive, which may come from anyone. Raise StoreError if it is damaged or a bomb."""
    files: dict[str, bytes] = {}
    remaining = LARGEST_OBJECT
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                with archive.open(info) as file:
                    files[info.filename] = file.read(remaining + 1)  # whatever size the archive claims
                remaining -= len(files[info.filename])
                if remaining < 0:
                    raise StoreError(f"{name} is larger than {LARGEST_OBJECT:,} bytes, so it is not read.")
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise StoreError(
            f"{name} is damaged: {error}.", hint="Restore it from a backup, or remove it and run again."
        ) from error
    return dict(sorted(files.items()))
