"""Call a user's code: await a coroutine that may go on although it is cancelled, and describe what it raised."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
import traceback
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any, Generic, TypeVar

from salvo.engine.jsonio.type_adapters import exception_text
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.threads import in_thread
from salvo.records import record

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How long a cancelled coroutine may clean up."""


def describe_exception(error: BaseException) -> str:
    """Return the message of an exception in a user's code, and the line it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    line = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {exception_text(error)}{line}"


async def call(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a user's function. A sync one gets a thread, and what ignores that it is cancelled is abandoned."""
    if inspect.iscoroutinefunction(function):
        return await abandonable(function(*arguments))
    returned = await in_thread(function, *arguments)
    return await abandonable(returned) if inspect.isawaitable(returned) else returned


async def abandonable(awaitable: Awaitable[T]) -> T:
    """Return what the awaitable returns. When this is cancelled, so is that; if it goes on, it is abandoned.

    An abandoned coroutine stands still where it last awaited something, and is never continued.
    """
    driver = _Driver(awaitable)
    task = asyncio.ensure_future(_drive(driver))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        driver.abandon_after(GRACE_SECONDS)
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
        finally:
            if not task.done():
                driver.abandon_after(0.0)
                task.cancel()
            elif not task.cancelled():
                task.exception()  # whoever wanted to know it is cancelled
        raise
    returned: T | _Exited = task.result()
    if isinstance(returned, _Exited):
        raise returned.error
    return returned


@record
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
        self._inner = inner
        self._clock = SystemClock()
        self._abandon_at = math.inf

    def abandon_after(self, seconds: float) -> None:
        """Abandon the awaitable when it waits after so many seconds.

        By the clock of the system, because that of the loop stands still while the awaitable blocks it.
        """
        self._abandon_at = self._clock.monotonic() + seconds

    def __await__(self) -> Generator[Any, None, T]:
        iterator = self._inner.__await__()
        error: BaseException | None = None
        while True:
            try:
                future = next(iterator) if error is None else _throw(iterator, error)
            except StopIteration as stop:
                value: T = stop.value
                return value
            self._check()
            try:
                yield future
                error = None
            except BaseException as raised:  # noqa: BLE001 - raised again inside the awaitable
                self._check()
                error = raised

    def _check(self) -> None:
        if self._clock.monotonic() >= self._abandon_at:
            keep_for_ever(self._inner)  # closing it would continue it
            raise asyncio.CancelledError


_kept: list[object] = []


def keep_for_ever(value: object) -> None:
    """Keep a coroutine or task that refuses to end: deleting it, also at exit, would continue it, perhaps without end.

    What the stack of a daemon thread holds is never deleted.
    """

    def hold(_values: list[object]) -> None:
        threading.Event().wait()

    if not _kept:
        threading.Thread(target=hold, args=(_kept,), name="salvo-abandoned", daemon=True).start()
    _kept.append(value)


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
