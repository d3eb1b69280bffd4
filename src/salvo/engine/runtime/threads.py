"""Run a user's blocking code in threads that never keep the process from ending.

Not `asyncio.to_thread`: its few threads form a queue, which would count as time of what is under test, and the
interpreter waits for them at exit, forever if one hangs. Here a call gets a thread at once: an idle one, or a new one
if all are busy. So there are as many threads as calls were ever in flight. They are daemon threads. A thread that
hangs stays busy and is never used again.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

T = TypeVar("T")

_START_ATTEMPTS = 20
_START_CHECK_SECONDS = 0.05


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Return what the function returns, or raise what it raises."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():  # the caller was cancelled
            _discard(value)
        elif error is not None:
            future.set_exception(_as_exception(error))
        else:
            future.set_result(cast("T", value))

    def report(value: T | None, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # the loop is closed
            _discard(value)

    _idle_worker().submit(lambda: context.run(function, *arguments), report)
    try:
        return await future
    except asyncio.CancelledError:
        if future.done() and not future.cancelled() and future.exception() is None:  # it arrived too late
            _discard(future.result())
        raise


class _WorkerThread:
    """A thread that runs one call after the other, and is idle in between."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Callable[[Any, BaseException | None], None]]] = (
            queue.SimpleQueue()
        )
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="salvo-worker", daemon=True)

    def start(self) -> bool:
        """Start the thread. False if it died before it could run anything.

        It can: with a trace function (coverage, a debugger), Python 3.11 refuses to start two threads at the same
        moment, and ends one of them without an error in the starting thread.
        """
        self._thread.start()
        while not self._ready.wait(_START_CHECK_SECONDS):
            if not self._thread.is_alive():
                return self._ready.is_set()
        return True

    def submit(self, call: Callable[[], Any], report: Callable[[Any, BaseException | None], None]) -> None:
        self._calls.put((call, report))

    def _run(self) -> None:
        self._ready.set()
        while True:
            call, report = self._calls.get()
            value, error = None, None
            try:
                value = call()
            except BaseException as raised:  # noqa: BLE001 - raised again where it is awaited
                error = raised
            _idle.append(self)
            report(value, error)
            del call, report, value, error  # an idle thread keeps nothing alive


_idle: list[_WorkerThread] = []
"""Threads that wait for a call, the last one to finish first. `append` and `pop` are atomic."""


def _idle_worker() -> _WorkerThread:
    with suppress(IndexError):
        return _idle.pop()
    for _ in range(_START_ATTEMPTS):
        worker = _WorkerThread()
        if worker.start():
            return worker
    raise RuntimeError(f"No thread could be started: {_START_ATTEMPTS} in a row died before they ran anything.")


def _discard(value: object) -> None:
    """Close a coroutine that will not be awaited, so that Python does not warn of it."""
    if inspect.iscoroutine(value):
        value.close()


def _as_exception(error: BaseException) -> Exception:
    """Wrap exceptions that must not pass through an event loop, such as SystemExit and StopIteration."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__)
