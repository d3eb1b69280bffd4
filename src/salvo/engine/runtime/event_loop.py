"""An event loop that notices when a user's code blocks it, such as `time.sleep` in an async function.

While it is blocked, its clock stands still, so that no limit of anyone else expires. Whoever is responsible for the
blocking task is asked whether to interrupt it. A thread watches: nothing inside the loop can run.

Code that catches every exception, or waits inside a C function, cannot be interrupted, and neither can a thread of
Python be ended. Then the loop is lost: the thread that watches does what is left to do, and ends the process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from salvo.engine.runtime import user_code
from salvo.engine.runtime.clock import SystemClock

T = TypeVar("T")

BLOCKED_SECONDS = 1.0
"""A loop that does not react for so long is reported as blocked, and may be interrupted."""
_LAG_SECONDS = 0.1
"""From here on, the time in which the loop does not react is counted: many short blocks add up to a long one."""
_POLL_SECONDS = 0.05
_SECONDS_BETWEEN_INTERRUPTS = 1.0
LOST_SECONDS = 10.0
"""A loop that is still blocked so long after the first interrupt is lost."""
_SIGNAL = getattr(signal, "SIGURG", None)
"""The system ignores this signal if nobody handles it, so that one that comes too late does no harm."""
_OUR_FOLDER = str(Path(__file__).parents[2]) + os.sep
_RUNS_USERS_CODE = frozenset({__file__, user_code.__file__})


class BlockingInterrupted(BaseException):
    """Raised in code that has blocked the event loop for too long. Like CancelledError, it is not to be caught."""


class Responsible(Protocol):
    """Who answers for a task that blocks the loop. Called in the thread that watches, except `unblocked`."""

    def blocking(self, seconds: float, where: str) -> bool:
        """The task has blocked the loop for so many more seconds. Return whether to interrupt it."""
        ...

    def unblocked(self) -> None:
        """The loop runs again."""
        ...


OnLost: TypeAlias = Callable[[Responsible, float, str], int]
"""Called in the thread that watches when the loop is lost, with who answers for it, for how many seconds it has been
blocked, and where. The process ends with the status that this returns."""

_responsible: ContextVar[Responsible | None] = ContextVar("responsible", default=None)


class WatchedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still while it is blocked."""

    def __init__(self) -> None:
        self.seconds_blocked = 0.0
        """In all. The thread that watches counts it up."""
        self.on_blocked: Callable[[float, str], None] | None = None
        """Called in the loop after a user's code blocked it, with the seconds and the place."""
        self.responsible: WeakKeyDictionary[asyncio.Task[Any], Responsible] = WeakKeyDictionary()
        super().__init__()

    def time(self) -> float:
        return super().time() - self.seconds_blocked

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = super().create_task(coro, **options)
        responsible = _responsible.get()
        if responsible is not None:
            self.responsible[task] = responsible
        return task


def watched_loop() -> WatchedLoop | None:
    """Return the running loop if it is watched."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop if isinstance(loop, WatchedLoop) else None


@contextmanager
def responsible_for_blocking(responsible: Responsible) -> Iterator[None]:
    """Name who answers if this task, or one that is created in this block, blocks the loop."""
    loop, task = watched_loop(), asyncio.current_task()
    if loop is None or task is None:
        yield
        return
    token = _responsible.set(responsible)
    outer = loop.responsible.get(task)
    loop.responsible[task] = responsible
    try:
        yield
    finally:
        _responsible.reset(token)
        if outer is None:
            loop.responsible.pop(task, None)
        else:
            loop.responsible[task] = outer


def run(main: Coroutine[Any, Any, T], on_lost: OnLost) -> T:
    """Run like `asyncio.run`, in a watched loop, and end also if tasks of a user's code refuse to."""
    runner = asyncio.Runner(loop_factory=WatchedLoop)
    refusing: set[asyncio.Task[Any]] = set()

    async def run_and_end_tasks() -> T:
        try:
            return await main
        finally:
            refusing.update(await user_code.end_other_tasks())

    loop = runner.get_loop()
    try:
        with _watched(loop, on_lost):
            return runner.run(run_and_end_tasks())
    finally:
        if refusing:  # closing the runner would wait for them
            user_code.keep_for_ever(refusing)
            loop.close()
        else:
            runner.close()


def describe_lost_loop(seconds: float, where: str, what: str) -> str:
    """Return what to tell the user when the loop is lost; `what` is the command or the replay."""
    return (
        f"The event loop has been blocked for {seconds:.0f} s at {where}. The code there could not be interrupted, so "
        f"{what} ends here. Make the function sync, so that it gets a thread that can be abandoned."
    )


@contextmanager
def _watched(loop: asyncio.AbstractEventLoop, on_lost: OnLost) -> Iterator[None]:
    if not isinstance(loop, WatchedLoop):
        yield
        return
    watch = _Watch(loop, on_lost)
    is_main = threading.current_thread() is threading.main_thread()
    previous = signal.signal(_SIGNAL, watch.interrupt) if is_main and _SIGNAL is not None else None
    watch.can_interrupt = previous is not None
    watch.start()
    try:
        yield
    finally:
        watch.stop()
        if previous is not None and _SIGNAL is not None:
            signal.signal(_SIGNAL, previous)


class _Watch:
    """Asks the loop to react, again and again, and looks which task runs while it does not."""

    def __init__(self, loop: WatchedLoop, on_lost: OnLost) -> None:
        self.can_interrupt = False
        self._loop = loop
        self._on_lost = on_lost
        self._clock = SystemClock()
        self._thread_id = threading.get_ident()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="salvo-loop-watch", daemon=True)
        self._asked_at: float | None = None
        self._looked_at = 0.0
        self._task: asyncio.Task[Any] | None = None
        """What ran when we looked."""
        self._uncounted: dict[Responsible, float] = {}
        self._blockers: set[Responsible] = set()
        self._blocked_before = 0.0
        self._blocked_for = 0.0
        self._where = ""
        self._interrupted_at = 0.0
        self._first_interrupted_at: float | None = None
        """Since the loop reacted last."""
        self._is_lost = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(_POLL_SECONDS):
            now = self._clock.monotonic()
            with self._lock:
                if self._asked_at is not None:
                    self._look(now, now - self._asked_at)
                    continue
                self._asked_at = now
                self._blocked_before = self._loop.seconds_blocked
            try:
                self._loop.call_soon_threadsafe(self._react)
            except RuntimeError:  # the loop is closed
                return

    def _look(self, now: float, seconds: float) -> None:
        """Count the time since the last look as that of the task that ran then and still runs."""
        task = asyncio.current_task(self._loop)
        where = _place_in_users_code(sys._current_frames().get(self._thread_id))  # noqa: SLF001 - documented
        responsible = self._loop.responsible.get(task) if task is not None and where else None
        if responsible is not None and task is self._task:
            self._uncounted[responsible] = self._uncounted.get(responsible, 0.0) + now - self._looked_at
        self._task, self._looked_at = task, now
        if seconds < _LAG_SECONDS:
            return
        self._where = where or self._where
        self._blocked_for = seconds
        self._loop.seconds_blocked = self._blocked_before + seconds
        uncounted, self._uncounted = self._uncounted, {}
        self._blockers.update(uncounted)
        late = [blocker for blocker, more in uncounted.items() if blocker.blocking(more, self._where)]
        if responsible is not None and responsible in late and seconds >= BLOCKED_SECONDS and self.can_interrupt:
            if self._first_interrupted_at is None:
                self._first_interrupted_at = now
            if now - self._first_interrupted_at >= LOST_SECONDS:
                self._end_process(responsible)
            elif now - self._interrupted_at >= _SECONDS_BETWEEN_INTERRUPTS:
                self._interrupted_at = now
                self._send_signal()

    def _send_signal(self) -> None:
        if _SIGNAL is not None:
            signal.pthread_kill(self._thread_id, _SIGNAL)  # also ends a system call, such as that of time.sleep

    def _end_process(self, responsible: Responsible) -> NoReturn:
        """Do what is left to do while the loop stands still, and end without waiting for it."""
        status = 1
        self._is_lost = True
        self._send_signal()
        try:
            status = self._on_lost(responsible, self._blocked_for, self._where)
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:  # noqa: BLE001 - nobody else would ever see it
            traceback.print_exc()
        finally:
            os._exit(status)

    def _react(self) -> None:
        """Run in the loop: it is not blocked, or not any more."""
        with self._lock:
            seconds, blockers = self._blocked_for, self._blockers
            self._task, self._blocked_for, self._uncounted, self._blockers = None, 0.0, {}, set()
            self._asked_at = self._first_interrupted_at = None
        if seconds:
            for blocker in blockers:
                blocker.unblocked()
            where, self._where = self._where, ""
            if where and seconds >= BLOCKED_SECONDS and self._loop.on_blocked is not None:
                self._loop.on_blocked(seconds, where)

    def interrupt(self, _signal: int, _frame: object) -> None:
        """Run in the main thread, between two steps of whatever runs there."""
        if self._is_lost:
            threading.Event().wait()  # for ever, so that the user's code does not go on while the process ends
        task = self._task
        if task is not None and self._interrupted_at and asyncio.current_task(self._loop) is task:
            raise BlockingInterrupted


def _place_in_users_code(frame: FrameType | None) -> str:
    """Return where a user's code runs; empty if it does not, so that the blocking is ours.

    Our code that runs a user's is `user_code.py`, and this module for a task that the user's code started.
    """
    frames: list[FrameType] = []
    while frame is not None and not frame.f_code.co_filename.startswith(_OUR_FOLDER):
        if not _is_standard(frame):
            frames.append(frame)
        frame = frame.f_back
    if not frames or frame is None or frame.f_code.co_filename not in _RUNS_USERS_CODE:
        return ""
    place = next((candidate for candidate in frames if not _is_installed(candidate)), frames[0])
    return f"{Path(place.f_code.co_filename).name}, line {place.f_lineno}"


def _is_standard(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return name.startswith(("<", *_folders("stdlib", "platstdlib"))) and not _is_installed(frame)


def _is_installed(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_folders("purelib", "platlib"))


@cache
def _folders(*names: str) -> tuple[str, ...]:
    # Asked for only when the loop is blocked: it reads the whole configuration of the interpreter.
    return tuple({sysconfig.get_path(name) for name in names})
