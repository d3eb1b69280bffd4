"""Other people's blocking code beside the event loop, in threads that nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """The function's value, or what it raised.

    Not asyncio.to_thread: its few threads make a queue, which would be counted as the time of what is under test, and
    at the end the program waits for them, for ever where one hangs. Here each call has a thread of its own at once, and
    one that is given up on does not keep the program alive.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, fault: BaseException | None) -> None:
        if done.done():  # given up on
            _discard(value)
            return
        if fault is not None:
            done.set_exception(_as_exception(fault))
        else:
            done.set_result(cast("T", value))

    def work() -> None:
        value, fault = None, None
        try:
            value = context.run(function, *arguments)
        except BaseException as raised:  # noqa: BLE001 - raised again where it is awaited
            fault = raised
        try:
            loop.call_soon_threadsafe(settle, value, fault)
        except RuntimeError:  # the loop is closed: nobody waits any more
            _discard(value)

    threading.Thread(target=work, daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        if done.done() and not done.cancelled() and done.exception() is None:  # it came, and nobody takes it any more
            _discard(done.result())
        raise


def _discard(value: object) -> None:
    """A coroutine that nobody will await says so, or Python complains of it."""
    if inspect.iscoroutine(value):
        value.close()


def _as_exception(fault: BaseException) -> Exception:
    """What must not pass through an event loop (an exit, the end of an iteration) becomes an error that names it."""
    if isinstance(fault, Exception) and not isinstance(fault, StopIteration):
        return fault
    return RuntimeError(f"{type(fault).__name__}: {fault}").with_traceback(fault.__traceback__)
