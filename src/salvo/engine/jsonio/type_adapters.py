"""Plain data into typed values: readers, made when something is first read and then kept.

Before pydantic makes its first model it looks through every installed package for plugins that watch models, and loads
them: from a fiftieth of a second to more than all else together. Ours need no watching; a user's have their plugins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter, ValidationError

T = TypeVar("T")

_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
_at_work = Lock()
_made: dict[type, TypeAdapter[Any]] = {}


def reader(kind: type[T]) -> TypeAdapter[T]:
    """Reads values of this type from plain data."""
    if kind not in _made:
        from pydantic import TypeAdapter

        with _unwatched():
            _made[kind] = TypeAdapter(kind)
    return _made[kind]


def complete(model: type[BaseModel]) -> None:
    """Makes a model ready that waits for it (`defer_build`)."""
    with _unwatched():
        model.model_rebuild()


class FirstError(NamedTuple):
    where: str
    """The way to it, "a.0.b"; empty where it is the whole."""
    what: str


def first_error(fault: ValidationError) -> FirstError:
    """The first thing that does not fit, of however many."""
    first = fault.errors(include_url=False)[0]
    return FirstError(".".join(map(str, first["loc"])), first["msg"])


@contextmanager
def _unwatched() -> Iterator[None]:
    """Without plugins. They are named by the environment alone, so only one at a time may say so."""
    with _at_work:
        before = os.environ.get(_PLUGINS)
        os.environ[_PLUGINS] = "__all__"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_PLUGINS]
            else:
                os.environ[_PLUGINS] = before
