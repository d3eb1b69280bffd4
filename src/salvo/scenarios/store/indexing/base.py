"""What a store needs of an index of its runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple, Protocol

from salvo.scenarios.result import Batch
from salvo.scenarios.store.index import Entries, IndexEntry


class Rebuilt(NamedTuple):
    runs: int
    skipped: int


class IndexWatcher(Protocol):
    """Reports changes of a store from its creation on."""

    poll_factor: int
    """How many times longer than for a folder to wait between two looks, because one costs more."""

    def look(self) -> list[str]:
        """Return the batches that are new, were written again or got runs since the last look, in order."""
        ...


class RunIndex(Protocol):
    def batch_ids(self) -> Iterator[str]:
        """Yield the ids of all batches that have a file of their own, in no order."""
        ...

    def batch_content(self, batch_id: str) -> bytes:
        """Return the file of a batch. Raise FileNotFoundError or StoreError."""
        ...

    def batch_written(self) -> None:
        """This process has written a batch."""
        ...

    def prefetched(self, batch_ids: Iterable[str]) -> list[str]:
        """Return these batches, after what is slow to read one by one was read at once."""
        ...

    def add(self, entry: IndexEntry) -> None:
        """Add a run that was stored just now."""
        ...

    def existing_run_ids(self, batch: Batch) -> Iterator[str]:
        """Yield the runs of a batch that are stored."""
        ...

    def entries(self, batch: Batch) -> Entries:
        """Return the runs of a batch, ordered by number. A run that the index lacks is read from its own file."""
        ...

    def unreadable(self, batch_ids: Iterable[str] | None = None, /) -> int:
        """Return the number of entries that belong to no batch, among those of these batches or all."""
        ...

    def newest_runs(self, back: int) -> list[str]:
        """Return the runs that ended last, newest first: more than `back` of them if the index has so many."""
        ...

    def batch_version(self, batch_id: str, *, complete: bool) -> Hashable:
        """Return what changes when a batch does; for one with missing runs, whenever a run of it is stored."""
        ...

    def modified(self, batch_id: str) -> float | None:
        """Return when the batch was last written, in seconds since 1970."""
        ...

    def rebuild(self) -> Rebuilt:
        """Build the index again from the runs, and count those that cannot be read."""
        ...

    def watcher(self) -> IndexWatcher: ...
