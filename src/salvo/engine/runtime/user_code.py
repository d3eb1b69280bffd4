"""Await a user's coroutine, which may go on although it is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How long a cancelled coroutine may clean up."""


async def abandonable(awaitable: Awaitable[T]) -> T:
    """Return what the awaitable returns. When this is cancelled, so is that; if it goes on, it is abandoned.

    An abandoned coroutine stands still where it last awaited something, and is never continued.
    """
    driver = _Driver(awaitable)
    task = asyncio.ensure_future(_drive(driver))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
        finally:
            if not task.done():
                driver.is_abandoned = True
                task.cancel()
        raise
    returned: T | _Exited = task.result()
    if isinstance(returned, _Exited):
        raise returned.error
    return returned


@dataclass(frozen=True, slots=True)
class _Exited:
    """A SystemExit of the user's code, which would end the event loop if it left its task."""

    error: SystemExit


async def _drive(driver: _Driver[Any]) -> Any:
    try:
        return await driver
    except SystemExit as error:
        return _Exited(error)


class _Driver(Generic[T]):
    """Passes on what the inner awaitable waits for, until it is abandoned."""

    def __init__(self, inner: Awaitable[T]) -> None:
        self.is_abandoned = False
        self._inner = inner

    def __await__(self) -> Generator[Any, None, T]:
        iterator = self._inner.__await__()
        error: BaseException | None = None
        while True:
            try:
                future = next(iterator) if error is None else _throw(iterator, error)
            except StopIteration as stop:
                value: T = stop.value
                return value
            try:
                yield future
                error = None
            except BaseException as raised:
                if self.is_abandoned:
                    self._close()
                    raise
                error = raised

    def _close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            try:
                close()
            except RuntimeError:  # it ignores that, too
                keep_for_ever(self._inner)


def keep_for_ever(value: object) -> None:
    """Keep a coroutine or task that refuses to end: deleting it, also at exit, would continue it, perhaps without end.

    What the stack of a daemon thread holds is never deleted.
    """

    def hold(_value: object) -> None:
        threading.Event().wait()

    threading.Thread(target=hold, args=(value,), name="salvo-abandoned", daemon=True).start()


def _throw(iterator: Any, error: BaseException) -> Any:
    """Raise the error where the awaitable waits. An awaitable that takes no exceptions raises it at once."""
    throw = getattr(iterator, "throw", None)
    if throw is None:
        raise error
    return throw(error)


async def end_other_tasks() -> set[asyncio.Task[Any]]:
    """Cancel all tasks but this one, and wait for them a moment. Return those that refuse to end."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if not tasks:
        return set()
    done, pending = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
    for task in done:
        if not task.cancelled():
            task.exception()  # whoever wanted to know it has ended before
    return pending
