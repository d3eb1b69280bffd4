"""The cache of model replies in the store, `.salvo/cache/replies/`, for `salvo run --cache`."""

from __future__ import annotations

from collections.abc import Callable

from salvo.engine.wire.cache import ReplyCache
from salvo.errors import StoreError
from salvo.scenarios.store.store import RunStore


def open_cache(store: RunStore, on_error: Callable[[StoreError], None] = lambda _: None) -> ReplyCache:
    """Return the cache. Raise StoreError if a link leads out of the store, which may come from someone else."""
    folder = store.folder / "cache" / "replies"
    if folder.resolve() != store.folder.resolve() / "cache" / "replies":
        raise StoreError(f"{folder} leads out of the store, so it is not used.", hint="Remove it.")
    return ReplyCache(folder, on_error)
