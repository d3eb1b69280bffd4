"""Start worker processes, ask them, and kill those that take too long or whose caller no longer waits.

`run` blocks. Call it in a thread of `in_killable_thread`: when that is cancelled, the workers it waits for are killed.
Workers are reused, except those that read documents.
"""

from __future__ import annotations

import asyncio
import atexit
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.threads import in_thread
from salvo.engine.sandbox.frames import read_frame, write_frame
from salvo.records import record

T = TypeVar("T")

MAX_WORKERS = 8
"""Workers of one group that are busy at the same time. Others wait, for as long as their operation may take."""
_MAX_WORKERS = {"docx": 2, "pdf": 2}
"""Groups with another limit: each of these may take a gigabyte."""
_REUSED = frozenset({"regex", "schema", "jmespath"})
_MAX_SECONDS_REUSED = 5.0
"""A worker that has worked longer is replaced, so that the limit of its CPU time is only reached by one operation."""
_SELF_DESTRUCTION_SECONDS = 1.0
"""How much later a worker ends itself than we kill it."""
_END_SECONDS = 5.0
"""How long a killed worker may take to end. On a busy machine, that is not at once."""

_START = "import sys; sys.path.append(sys.argv[1]); from salvo.engine.sandbox.worker import main; main()"
"""-I ignores the current folder and the environment. The folder of this package is added, if it is not installed."""
_PACKAGE_FOLDER = Path(__file__).parents[3]
_PASSED_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH")
"""Without them some interpreters do not start. A worker gets no other variable."""

_clock = SystemClock()


@record
class SandboxResult:
    """The results that arrived. If `failure` is set, the operation did not finish; it is the end of such a sentence."""

    results: list[Any]
    failure: str = ""
    timed_out: bool = False


def run(
    group: str, operation: str, arguments: dict[str, Any], *, seconds: float, content: bytes = b""
) -> SandboxResult:
    """Run an operation in a worker process, for `seconds` at most. Blocks.

    Raises ValueError or RecursionError where the arguments are not JSON.
    """
    budget = _budget.get()
    with _charged(budget):
        if budget is not None:
            seconds = min(seconds, budget.seconds_left)
            if seconds <= 0:
                return SandboxResult([], f" within the {budget.limit:g} seconds for all of them together", True)
        request = {"operation": operation, "arguments": arguments, "seconds": seconds + _SELF_DESTRUCTION_SECONDS}
        return _workers.run(group, request, content, seconds)


async def in_killable_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run the function in a thread. When this is cancelled, the workers that the function waits for are killed."""
    scope = _KillScope()
    token = _kill_scope.set(scope)
    try:
        return await in_thread(function, *arguments)
    except asyncio.CancelledError:
        scope.cancel()
        raise
    finally:
        _kill_scope.reset(token)


@contextmanager
def time_budget(seconds: float) -> Iterator[None]:
    """Limit the time of all operations in this block together, and of what is charged with `charged_to_budget`."""
    token = _budget.set(_TimeBudget(seconds, seconds))
    try:
        yield
    finally:
        _budget.reset(token)


@contextmanager
def charged_to_budget() -> Iterator[bool]:
    """Charge the time of this block to the budget, if there is one. Yields whether any of it is left."""
    budget = _budget.get()
    with _charged(budget):
        yield budget is None or budget.seconds_left > 0


@dataclass(slots=True)
class _TimeBudget:
    limit: float
    seconds_left: float


@contextmanager
def _charged(budget: _TimeBudget | None) -> Iterator[None]:
    if budget is None:
        yield
        return
    started = _clock.monotonic()
    try:
        yield
    finally:
        budget.seconds_left -= _clock.monotonic() - started


class _KillScope:
    """What one caller waits for. `cancel` kills it."""

    def __init__(self) -> None:
        self.cancelled = False
        self.worker: _WorkerProcess | None = None

    def cancel(self) -> None:
        _workers.cancel(self)


_kill_scope: ContextVar[_KillScope | None] = ContextVar("kill_scope", default=None)
_budget: ContextVar[_TimeBudget | None] = ContextVar("time_budget", default=None)


@dataclass(slots=True, eq=False)
class _WorkerProcess:
    process: subprocess.Popen[bytes]
    seconds_busy: float = 0.0
    deadline: float | None = None
    timed_out: bool = False

    def ask(self, request: dict[str, Any], content: bytes) -> Iterator[Any]:
        """Yield the results. Raises OSError or EOFError if the process has ended."""
        if self.process.stdin is None or self.process.stdout is None:
            raise EOFError
        write_frame(self.process.stdin, request, content)
        while "end" not in (reply := read_frame(self.process.stdout)[0]):
            yield reply["result"]

    def kill(self) -> None:
        """Kill the process and those it started. Whoever reads from it gets the end of its output."""
        if self.process.poll() is None:
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()

    def end(self) -> int:
        """Kill the process, release what it held, and return its exit code."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what could not be written to it is lost
                if pipe is not None:
                    pipe.close()
        return self.process.wait()


@dataclass(slots=True)
class _GroupState:
    idle: list[_WorkerProcess] = field(default_factory=list)
    busy: int = 0


class _WorkerPool:
    """All workers of this process. Its thread starts them and kills those whose time is up.

    It is one thread for all, because on Linux a process that is to end with its parent ends with the thread that
    started it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._groups: dict[str, _GroupState] = {}
        self._starts: list[tuple[str, Future[_WorkerProcess]]] = []
        self._all: set[_WorkerProcess] = set()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        """Held from before a process is started until it is in `_all`."""
        self._is_closed = False

    def run(self, group: str, request: dict[str, Any], content: bytes, seconds: float) -> SandboxResult:
        scope = _kill_scope.get()
        if not self._take_slot(group, seconds, scope):
            return SandboxResult([], ": too many others were running", timed_out=True)
        try:
            worker = self._idle_worker(group) or self._start(group)
        except OSError as error:
            self._release(group, None)
            return SandboxResult([], f": no process could be started ({error.strerror})")
        except BaseException:
            self._release(group, None)
            raise
        return self._ask(worker, group, request, content, seconds, scope)

    def _ask(
        self,
        worker: _WorkerProcess,
        group: str,
        request: dict[str, Any],
        content: bytes,
        seconds: float,
        scope: _KillScope | None,
    ) -> SandboxResult:
        results: list[Any] = []
        started = _clock.monotonic()
        finished = False
        try:
            self._watch(worker, started + seconds, scope)
            for result in worker.ask(request, content):
                results.append(result)  # noqa: PERF402 - those before a failure are kept
            finished = True
            return SandboxResult(results)
        except (OSError, EOFError):
            code = worker.end()
            if worker.timed_out:
                return SandboxResult(results, f" after {seconds:g} seconds", timed_out=True)
            return SandboxResult(results, f": its process ended with code {code}")
        finally:
            self._unwatch(worker, scope)
            worker.seconds_busy += _clock.monotonic() - started
            reusable = finished and group in _REUSED and worker.seconds_busy < _MAX_SECONDS_REUSED
            if not reusable:
                worker.end()
            self._release(group, worker if reusable else None)

    def cancel(self, scope: _KillScope) -> None:
        with self._changed:
            scope.cancelled = True
            if scope.worker is not None:
                scope.worker.kill()
            self._changed.notify_all()

    def close(self) -> None:
        """Kill all workers, also one that is just being started, and wait until they have ended."""
        with self._starting:
            self._is_closed = True
        with self._changed:
            workers = list(self._all)
        for worker in workers:
            worker.kill()
        for worker in workers:
            with suppress(subprocess.TimeoutExpired):  # the system does not end it now; it cannot be killed twice
                worker.process.wait(_END_SECONDS)

    def _take_slot(self, group: str, seconds: float, scope: _KillScope | None) -> bool:
        limit = _MAX_WORKERS.get(group, MAX_WORKERS)
        with self._changed:
            state = self._groups.setdefault(group, _GroupState())
            self._changed.wait_for(lambda: state.busy < limit or _is_cancelled(scope), seconds)
            if state.busy >= limit or _is_cancelled(scope):
                return False
            state.busy += 1
            return True

    def _idle_worker(self, group: str) -> _WorkerProcess | None:
        with self._changed:
            idle = self._groups[group].idle
            while idle:
                worker = idle.pop()
                if worker.process.poll() is None:
                    return worker
                self._all.discard(worker)
        return None

    def _release(self, group: str, worker: _WorkerProcess | None) -> None:
        with self._changed:
            state = self._groups[group]
            state.busy -= 1
            if worker is not None:
                state.idle.append(worker)
            self._all = {one for one in self._all if one.process.returncode is None}
            self._changed.notify_all()

    def _watch(self, worker: _WorkerProcess, deadline: float, scope: _KillScope | None) -> None:
        with self._changed:
            worker.deadline = deadline
            if scope is not None:
                scope.worker = worker
                if scope.cancelled:
                    worker.kill()
            self._changed.notify_all()

    def _unwatch(self, worker: _WorkerProcess, scope: _KillScope | None) -> None:
        with self._changed:
            worker.deadline = None
            if scope is not None:
                scope.worker = None

    def _start(self, group: str) -> _WorkerProcess:
        future: Future[_WorkerProcess] = Future()
        self._start_thread()
        with self._changed:
            self._starts.append((group, future))
            self._changed.notify_all()
        try:
            while True:
                with suppress(TimeoutError):
                    return future.result(timeout=1)
                self._start_thread()
        except BaseException:  # Ctrl-C: nobody else would end the worker
            future.add_done_callback(lambda started: started.exception() or started.result().end())
            raise

    def _start_thread(self) -> None:
        """Start the thread, or start it again: with a trace function, Python 3.11 can end a new one before it runs."""
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._supervise, name="salvo-sandbox", daemon=True)
                self._thread.start()

    def _supervise(self) -> None:
        while True:
            with self._changed:
                while not self._starts:
                    self._changed.wait(self._kill_overdue())
                group, future = self._starts.pop(0)
            try:
                worker = self._start_worker(group)
            except BaseException as error:  # noqa: BLE001 - raised where the worker is waited for
                future.set_exception(error)
            else:
                future.set_result(worker)

    def _start_worker(self, group: str) -> _WorkerProcess:
        with self._starting:
            if self._is_closed:
                raise OSError(errno.ECANCELED, "the program is ending")
            worker = _WorkerProcess(_start_process(group))
            with self._changed:
                self._all.add(worker)
        return worker

    def _kill_overdue(self) -> float | None:
        """Kill the workers whose time is up, and return the seconds until the next one's is."""
        now = _clock.monotonic()
        waits = []
        for worker in self._all:
            if worker.deadline is None:
                continue
            if worker.deadline <= now:
                worker.timed_out, worker.deadline = True, None
                worker.kill()
            else:
                waits.append(worker.deadline - now)
        return min(waits, default=None)


def _is_cancelled(scope: _KillScope | None) -> bool:
    return scope is not None and scope.cancelled


def _start_process(group: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter with our own code
        [sys.executable, "-I", "-c", _START, str(_PACKAGE_FOLDER), group, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(sys.executable).anchor or None,
        env={name: os.environ[name] for name in _PASSED_ENVIRONMENT if name in os.environ},
        start_new_session=True,
    )


_workers = _WorkerPool()


def _forget_workers_of_parent() -> None:
    global _workers  # noqa: PLW0603 - a forked process has neither the thread nor the pipes for itself
    _workers = _WorkerPool()


def _close() -> None:
    _workers.close()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers_of_parent)
