"""Read one file of the store as a typed value. A store may come from someone else, so it may contain anything."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import first_error, type_adapter
from salvo.errors import StoreError
from salvo.scenarios.store.backends.base import Storage

T = TypeVar("T")


def load_stored(storage: Storage, key: str, kind: type[T]) -> T:
    """Return the value in a file of the store. Raise StoreError if it is missing, foreign or damaged."""
    try:
        content = storage.get(key)
    except FileNotFoundError as error:
        name = storage.describe(key)
        raise StoreError(f"{name} does not exist.", hint="`salvo report` lists what is stored.") from error
    return parse_stored(content, kind, storage.describe(key))


def parse_stored(content: bytes, kind: type[T], name: str) -> T:
    """Return the value of a file whose content was read already. Raise StoreError if it is damaged."""
    try:
        return type_adapter(kind).validate_python(json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED))
    except ValidationError as error:
        where, what = first_error(error)
        raise damaged(name, f" at {where}: {what}" if where else f": {what}") from error
    except ValueError as error:
        raise damaged(name, f": {error}") from error


def damaged(name: str, what: str) -> StoreError:
    return StoreError(f"{name} is damaged{what}.", hint="Restore it from a backup, or remove it and run again.")
