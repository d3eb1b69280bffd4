"""A storage in memory whose clock a test holds, and which fails when a test says so."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path

from salvo.errors import StoreError
from salvo.scenarios.store.backends.base import StoredObject
from salvo.scenarios.store.backends.leases import Leases
from salvo.scenarios.store.index import Entries
from salvo.scenarios.store.indexing.object_index import ObjectIndex
from tests.support.clock import HeldClock


class MemoryStorage:
    """Objects with the time at which they were written, by the storage's own clock, in whole seconds as in S3."""

    address = "memory"
    is_shared = True

    def __init__(self, clock: HeldClock) -> None:
        self._clock = clock
        self._versions = 0
        self.objects: dict[str, tuple[bytes, StoredObject]] = {}
        self.unreachable = False

    def make_index(self, folder: Path, load: Callable[[Iterable[str]], Entries]) -> ObjectIndex:
        return ObjectIndex(self, folder, load)

    def describe(self, key: str) -> str:
        return f"memory/{key}"

    def prepare(self) -> None:
        self._check()

    def hold(self, ids: Iterable[str], now: str) -> AbstractContextManager[None]:
        return nullcontext()

    def hold_runs(self, wanted: Mapping[str, Sequence[int]], now: str) -> AbstractContextManager[dict[str, list[int]]]:
        return nullcontext({batch_id: list(numbers) for batch_id, numbers in wanted.items()})

    def is_held(self) -> bool:
        return True

    @property
    def leases(self) -> Leases | None:
        return None

    def get(self, key: str) -> bytes:
        self._check()
        if key not in self.objects:
            raise FileNotFoundError(key)
        return self.objects[key][0]

    def get_versioned(self, key: str) -> tuple[bytes, str] | None:
        self._check()
        return (self.objects[key][0], self.objects[key][1].version) if key in self.objects else None

    def put(self, key: str, content: bytes) -> None:
        self._check()
        self._versions += 1
        now = self._clock.now()
        modified = now - timedelta(microseconds=now.microsecond)
        self.objects[key] = content, StoredObject(key.rpartition("/")[2], str(self._versions), modified)

    def create(self, key: str, content: bytes) -> bool:
        return self.replace(key, content, None)

    def replace(self, key: str, content: bytes, version: str | None) -> bool:
        self._check()
        current = self.objects[key][1].version if key in self.objects else None
        if current != version:
            return False
        self.put(key, content)
        return True

    def delete(self, key: str) -> None:
        self._check()
        self.objects.pop(key, None)

    def exists(self, key: str) -> bool:
        return key in self.objects

    def names(self, folder: str, prefix: str = "") -> Iterator[str]:
        return (item.name for item in self.list(folder, prefix))

    def list(self, folder: str, prefix: str = "") -> Iterator[StoredObject]:
        self._check()
        for key, (_, item) in self.objects.items():
            if key.rpartition("/")[0] == folder and item.name.startswith(prefix):
                yield item

    def folders(self, folder: str, prefix: str = "") -> Iterator[str]:
        return iter(())

    def create_group(self, key: str, files: Mapping[str, bytes]) -> bool:
        raise NotImplementedError

    def get_group(self, key: str) -> dict[str, bytes]:
        raise NotImplementedError

    def has_group(self, key: str) -> bool:
        raise NotImplementedError

    def _check(self) -> None:
        if self.unreachable:
            raise StoreError("The storage is out of reach.")
