"""The cache of model replies in the store, `.salvo/cache/replies/`, for `salvo run --cache`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Endpoint, Wire
from salvo.engine.wire.cache import CachingWire, ReplyCache
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.store.store import RunStore


@record
class CacheSource:
    """Replies of earlier runs, and the endpoints whose addresses they are found by."""

    replies: ReplyCache
    endpoints: Mapping[str, Endpoint]

    def wire(self, inner: Wire, redactor: Redactor, scenario: str, number: int) -> CachingWire:
        # The number is part of the key: two runs of a batch never get the same reply, so a first batch is measured as
        # it is without a cache, and a later one repeats it run by run.
        return CachingWire(inner, self.replies, redactor, self.endpoints, f"run {number} of {scenario}")


def open_cache(store: RunStore, on_error: Callable[[StoreError], None] = lambda _: None) -> ReplyCache:
    """Return the cache. Raise StoreError if a link leads out of the store, which may come from someone else."""
    folder = store.folder / "cache" / "replies"
    if folder.resolve() != store.folder.resolve() / "cache" / "replies":
        raise StoreError(f"{folder} leads out of the store, so it is not used.", hint="Remove it.")
    return ReplyCache(folder, on_error)
