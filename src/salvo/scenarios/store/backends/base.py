"""What a store needs of the place that holds its files. A key is a path below the store: "batches/01k9batch.json".

Two storages implement it: `folder.FolderStorage` and `objects.ObjectStorage`. Their methods block. Those of an object
store take milliseconds to seconds, so that an event loop calls them in threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from salvo.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from salvo.scenarios.store.backends.leases import Leases
    from salvo.scenarios.store.index import Entries
    from salvo.scenarios.store.indexing.base import RunIndex

T = TypeVar("T")
Item = TypeVar("Item")
_READERS = 16
"""Objects that are read at the same time."""


@record
class StoredObject:
    """An object as a listing shows it."""

    name: str
    """In its folder: "01k9batch.json"."""
    version: str
    """Changes when the object is written again."""
    modified: datetime
    """By the clock of the storage, which all processes share."""


class Storage(Protocol):
    @property
    def address(self) -> str:
        """How people name the storage: a folder or a URL, without credentials."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other machines may write to it, and a call is slow enough to need a thread."""
        ...

    def make_index(self, folder: Path, load: Callable[[Iterable[str]], Entries]) -> RunIndex:
        """Return the index of the runs. `folder` is the store's on this machine; `load` reads runs from their files."""
        ...

    def describe(self, key: str) -> str:
        """Return the full name of an object, for messages."""
        ...

    def prepare(self) -> None:
        """Raise StoreError unless the storage can be written: before money is spent."""
        ...

    def hold(self, ids: Iterable[str], now: str) -> AbstractContextManager[None]:
        """Let no other process work on these batches in a block. Raise UsageError if one does already."""
        ...

    def hold_runs(
        self, requested: Mapping[str, Sequence[int]], now: str
    ) -> AbstractContextManager[dict[str, list[int]]]:
        """Let no other process make these runs in a block. Yield those that none makes already, by batch.

        Raise UsageError if others make all that are wanted of a batch, or one of them holds the batch.
        """
        ...

    def is_held(self) -> bool:
        """Return whether everything that this process holds is still its own. If not, it must start no more runs."""
        ...

    @property
    def leases(self) -> Leases | None:
        """The leases by which this process holds runs; None while it holds none."""
        ...

    def get(self, key: str) -> bytes:
        """Return the content of an object. Raise FileNotFoundError or StoreError."""
        ...

    def get_versioned(self, key: str) -> tuple[bytes, str] | None:
        """Return the content of an object and its version for `replace`; None if there is no such object."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Write an object completely or not at all."""
        ...

    def create(self, key: str, content: bytes) -> bool:
        """Write a new object. Return False, and change nothing, if there is one. Of several writers one succeeds."""
        ...

    def replace(self, key: str, content: bytes, version: str | None) -> bool:
        """Write an object if it still has this version; None means that there is none. Return whether it was written.

        After an interrupted connection False may be returned for a write that was made, so the caller reads again.
        """
        ...

    def delete(self, key: str) -> None:
        """Delete an object, if there is one."""
        ...

    def exists(self, key: str) -> bool: ...

    def names(self, folder: str, prefix: str = "") -> Iterator[str]:
        """Yield the names of the objects and groups in a folder, in no order."""
        ...

    def list(self, folder: str, prefix: str = "") -> Iterator[StoredObject]:
        """Yield the objects and groups in a folder, in no order."""
        ...

    def folders(self, folder: str, prefix: str = "") -> Iterator[str]:
        """Yield the names of the folders in a folder, in no order."""
        ...

    def create_group(self, key: str, files: Mapping[str, bytes]) -> bool:
        """Write several small files as one new thing, all or none. Return False if there is one of this name."""
        ...

    def get_group(self, key: str) -> dict[str, bytes]:
        """Return the files of a group. Raise FileNotFoundError or StoreError."""
        ...

    def has_group(self, key: str) -> bool: ...


def map_in_threads(function: Callable[[Item], T], items: Iterable[Item]) -> Iterator[T]:
    """Yield what a function returns for each item, in order, while it works on several at a time."""
    with ThreadPoolExecutor(_READERS) as threads:
        yield from threads.map(function, items)
